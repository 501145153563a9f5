import { sql } from 'kysely'
import { onTestFinished } from 'vitest'
import { secondApp } from '#test/kit/second-app.ts'
import type { TestApp } from '#test/kit/test-app.ts'
import type { App } from '../context/app.ts'
import type { AttemptResult, Channel, ClaimedDelivery, SettledAttempt } from './channel.ts'
import { startDeliverer } from './start-deliverer.ts'

const MINUTE_MS = 60_000

/** Delays of signed webhooks. */
export const DELAYS_MS = [0, MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 120 * MINUTE_MS, 720 * MINUTE_MS]

export const result = (outcome: AttemptResult['outcome'], changes: Partial<AttemptResult> = {}): AttemptResult => ({
  outcome,
  status: outcome === 'delivered' ? 200 : 500,
  errorCode: null,
  errorText: null,
  durationMs: 1,
  details: {},
  ...changes,
})

export type TestChannel = Channel & {
  /** Attempts that began, in their order. */
  readonly sent: ClaimedDelivery[]
  readonly recorded: SettledAttempt[]
}

/** The channel `test`: each attempt does what `send` says; by default it succeeds. */
export function testChannel(
  send: (delivery: ClaimedDelivery, signal: AbortSignal) => AttemptResult | Promise<AttemptResult> = () =>
    result('delivered'),
  changes: Partial<Channel> = {},
): TestChannel {
  const sent: ClaimedDelivery[] = []
  const recorded: SettledAttempt[] = []
  return {
    name: 'test',
    delaysMs: DELAYS_MS,
    timeoutMs: 10_000,
    prepare: () =>
      Promise.resolve((delivery, signal) => {
        sent.push(delivery)
        return Promise.resolve(send(delivery, signal))
      }),
    settled: (_tx, _app, attempts) => {
      recorded.push(...attempts)
      return Promise.resolve()
    },
    sent,
    recorded,
    ...changes,
  }
}

/** Starts a worker that stops with the test. @returns stops it earlier */
export function aWorker(app: App, ...channels: readonly Channel[]): () => Promise<void> {
  const deliverer = startDeliverer(app, channels)
  let stopped: Promise<void> | undefined
  const stop = (): Promise<void> => (stopped ??= deliverer.stop(2_000))
  onTestFinished(stop)
  return stop
}

export type DatabaseClock = {
  /** Whose statements see the clock. */
  readonly app: App
  now(): Promise<Date>
  set(at: Date): Promise<void>
  advance(ms: number): Promise<void>
}

/**
 * A clock of the database that stands still until a test moves it: a schema with its own `now()` before pg_catalog, for
 * connections that are opened from now on.
 */
export async function databaseClock(t: TestApp, start: Date): Promise<DatabaseClock> {
  const { db } = t.app
  await sql`create schema fake`.execute(db)
  await sql`create table fake.clock (at timestamptz not null)`.execute(db)
  await sql`insert into fake.clock values (${start})`.execute(db)
  await sql`create function fake.now() returns timestamptz language sql stable return (select at from fake.clock)`.execute(
    db,
  )
  await sql`do $$ begin
    execute format('alter database %I set search_path = fake, public, pg_catalog', current_database());
    execute format('alter database %I set timezone = ''Europe/Berlin''', current_database());
  end $$`.execute(db)
  const app = await secondApp(t)
  return {
    app,
    async now() {
      const { rows } = await sql<{ at: Date }>`select at from fake.clock`.execute(db)
      if (rows[0] === undefined) throw new Error('the clock is gone')
      return rows[0].at
    },
    async set(at) {
      await sql`update fake.clock set at = ${at}`.execute(db)
    },
    async advance(ms) {
      await sql`update fake.clock set at = at + make_interval(secs => ${ms / 1000}::float8)`.execute(db)
    },
  }
}
