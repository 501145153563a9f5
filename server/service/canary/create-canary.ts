import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { isDeepStrictEqual } from 'node:util'
import type { App } from '../../platform/context/app.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { EVERY_ORG, publishLive } from '../../platform/live/publish.ts'
import { noteSent, restartRun, selectSnapshot, startRun, storeVerdict, type Snapshot } from './canary.queries.ts'
import { judge } from './judge.ts'
import { prepareCanary } from './prepare-canary.ts'
import { sendTestEvent } from './send-test-event.ts'
import { envelopeOfRun } from './test-event.ts'

export type CanaryTiming = {
  /** The first event waits until the other roles have started. */
  readonly firstMs: number
  /** Between two looks, of one query each. */
  readonly tickMs: number
}
const TIMING: CanaryTiming = { firstMs: 20_000, tickMs: 5_000 }
/** Time between two ticks counts only up to here: meanwhile this process could not see what happened. */
const MAX_STEP_MS = 15_000
/** Longer than sending takes. */
const SEND_AGAIN_MS = 15_000
/** While the path is broken, another event follows after this time: the first one may be lost. */
const RETRY_MS = 300_000
const MARK_HEADER = 'x-faultline-canary'

export type Canary = {
  /** Whether a request is one that this process sent. */
  readonly isOwn: (request: IncomingMessage) => boolean
  /**
   * Begins to watch, and to send if this process has an intake.
   * @param port where this process listens
   * @param timing null: only {@link Canary.tick} looks
   */
  start(port: number, timing?: CanaryTiming | null): void
  /** One step: looks, judges, and sends an event that is due. */
  tick(): Promise<void>
  stop(): Promise<void>
}

/**
 * The end-to-end test: at each interval one of the processes with an intake sends itself an event, and those with the role
 * `ingest` or `api` watch whether its alert arrives.
 * @param sends whether this process has an intake
 */
export function createCanary(app: App, sends: boolean): Canary {
  const periodMs = app.config.canaryMinutes * 60_000
  const token = randomBytes(16).toString('hex')
  const stopping = new AbortController()
  let port = app.config.port
  let { tickMs } = TIMING
  let publicKey: string | null = null
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()
  /** The newest run, as this process has watched it. */
  let watched = { runId: null as string | null, sameRunMs: 0, unarrivedMs: 0 }
  let lookedMs: number | null = null
  let isFailing = false

  const look = (snapshot: Snapshot): void => {
    const nowMs = app.clock.monotonicMs()
    const step = lookedMs === null ? 0 : Math.min(MAX_STEP_MS, Math.max(0, nowMs - lookedMs))
    lookedMs = nowMs
    const runId = snapshot.run?.id ?? null
    if (runId !== watched.runId) watched = { runId, sameRunMs: 0, unarrivedMs: 0 }
    else {
      watched.sameRunMs += step
      if (snapshot.run?.isArrived === false) watched.unarrivedMs += step
    }
  }

  const isDue = ({ run, ageMs, verdict }: Snapshot): boolean => {
    if (run === null) return true
    if (!run.isAccepted) return false
    const isOver = (ms: number): boolean => watched.sameRunMs >= ms || ageMs >= ms
    // A negative age: the clock of the database was set back.
    return isOver(periodMs) || ageMs < 0 || (verdict.state === 'broken' && !run.isArrived && isOver(RETRY_MS))
  }

  const send = async (runId: string): Promise<void> => {
    publicKey ??= await prepareCanary(app)
    const listener = { host: hostOf(app.config.host), port, mark: { [MARK_HEADER]: token } }
    const refusal = await sendTestEvent(listener, publicKey, envelopeOfRun(runId, app.clock.now()), stopping.signal)
    if (stopping.signal.aborted) return
    await noteSent(app.db, runId, refusal)
    if (refusal !== null) app.log.warn({ run_id: runId, refusal }, 'the intake did not accept the end-to-end test')
  }

  const sendIfDue = async (snapshot: Snapshot): Promise<void> => {
    const { run } = snapshot
    if (run !== null && !run.isAccepted) {
      if (await restartRun(app.db, run.id, SEND_AGAIN_MS)) await send(run.id)
      return
    }
    if (!isDue(snapshot)) return
    const runId = newId()
    if (await app.tx((tx) => startRun(tx, runId, run?.id ?? null))) await send(runId)
  }

  const step = async (): Promise<void> => {
    const snapshot = await selectSnapshot(app.db)
    look(snapshot)
    const { verdict: before, run } = snapshot
    const after = judge({ before, run, ...watched, periodMs })
    if (!isDeepStrictEqual(after, before)) await adopt(app, before, after)
    if (sends) await sendIfDue(snapshot)
  }
  const tick = async (): Promise<void> => {
    try {
      await step()
      isFailing = false
    } catch (error) {
      if (!isFailing && !stopping.signal.aborted)
        app.log.warn({ err: error }, 'the end-to-end test cannot look or send')
      isFailing = true
    }
  }
  const schedule = (ms: number): void => {
    timer = setTimeout(() => {
      running = tick().finally(() => {
        if (!stopping.signal.aborted) schedule(tickMs)
      })
    }, ms)
    timer.unref()
  }

  return {
    isOwn: ({ headers }) => isEqual(headers[MARK_HEADER], token),
    start(listensAt, timing = TIMING) {
      port = listensAt
      if (timing === null) return
      tickMs = timing.tickMs
      schedule(timing.firstMs)
    },
    tick,
    async stop() {
      stopping.abort()
      clearTimeout(timer)
      await running
    },
  }
}

/** Stores a changed state and publishes it to the dashboards of all organisations. */
async function adopt(app: App, before: Snapshot['verdict'], after: Snapshot['verdict']): Promise<void> {
  const isStored = await app.tx(async (tx) => {
    if (!(await storeVerdict(tx, before, after))) return false
    await publishLive(tx, [{ orgId: EVERY_ORG, message: { kind: 'canary' } }])
    return true
  })
  if (!isStored || before.state === after.state) return
  const { state, failedStep, explanation } = after
  if (state === 'broken') app.log.error({ failed_step: failedStep, explanation }, 'alerts do not arrive')
  else if (before.state === 'broken') app.log.info({}, 'alerts arrive again')
}

/** Where a listener on this host answers. */
function hostOf(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  return host === '::' ? '::1' : host
}

const isEqual = (given: string | string[] | undefined, token: string): boolean =>
  typeof given === 'string' && given.length === token.length && timingSafeEqual(Buffer.from(given), Buffer.from(token))
