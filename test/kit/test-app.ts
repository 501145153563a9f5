import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'
import { afterAll, expect, inject } from 'vitest'
import { createApp } from '#server/service/app.ts'
import { createPasswordHasher } from '#server/identity/auth/password-hasher.ts'
import { readConfig } from '#server/config/config.ts'
import type { App } from '#server/platform/context/app.ts'
import { createEgress, type EgressOptions } from '#server/platform/egress/create-egress.ts'
import { databaseAddress } from '#server/platform/storage/pool.ts'
import type { Mail } from '#server/platform/context/mail.ts'
import { cloneDatabase } from './database.ts'
import type { ResolveTxt } from '#server/platform/context/txt-records.ts'
import { knownTxtRecords } from './txt-records.ts'
import { fakeClock, type FakeClock } from './fake-clock.ts'
import { removeGroupingVersion } from './grouping-version.ts'

export type TestApp = {
  readonly app: App
  readonly clock: FakeClock
  /** Mails sent so far. */
  readonly mails: Mail[]
  /** Parsed log lines of level info and above, to assert what was logged and that no secret was. */
  readonly logLines: Record<string, unknown>[]
  readonly connectionString: string
  readonly dataDir: string
  /** Called before the app closes, last registered first. */
  onClose(work: () => Promise<void>): void
}

export type TestAppOptions = {
  readonly env?: Readonly<Record<string, string>>
  /** Real time instead of a fake clock, for tests that drive real clients. */
  readonly realTime?: boolean
  /** How outgoing requests differ from those of relaxed mode. */
  readonly egress?: Partial<EgressOptions>
  /** TXT records, by default those of `setTxtRecord`. */
  readonly resolveTxt?: ResolveTxt
}

const LOWEST_COST = { memoryKib: 8, passes: 1 }

/** The number of listening servers of this process. */
const listeners = (): number => process.getActiveResourcesInfo().filter((name) => name === 'TCPServerWrap').length

/**
 * An App on a new database. Call it at the top level of a test file: it is closed after the file's last test, which
 * fails when the file left database connections or listening servers behind.
 */
export async function testApp(options: TestAppOptions = {}): Promise<TestApp> {
  const database = await cloneDatabase(inject('postgres'))
  const dataDir = mkdtempSync(join(tmpdir(), 'faultline-data-'))
  // Tests of the canary switch it on.
  const off = { FAULTLINE_CANARY_MINUTES: '0' }
  const config = readConfig({ FAULTLINE_DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'info', ...off, ...options.env })
  const clock = fakeClock()
  const mails: Mail[] = []
  const logLines: Record<string, unknown>[] = []
  const log = pino(
    { level: 'info', base: null, formatters: { level: (label) => ({ level: label }) } },
    { write: (line: string) => void logLines.push(JSON.parse(line) as Record<string, unknown>) },
  )
  const app = await createApp(config, database.connectionString, 6, 'test', {
    ...(options.realTime === true ? {} : { clock }),
    ...(options.egress === undefined
      ? {}
      : {
          egress: createEgress({
            allowed: [],
            loopbackOpen: true,
            httpOpen: true,
            ownPorts: [],
            database: () => databaseAddress(database.connectionString),
            ...options.egress,
          }),
        }),
    log,
    resolveTxt: options.resolveTxt ?? knownTxtRecords,
    // The real algorithm at its lowest cost: 0.1 ms instead of 40.
    passwords: createPasswordHasher(LOWEST_COST, LOWEST_COST),
    mail: {
      send: (mail) => {
        mails.push(mail)
        return Promise.resolve()
      },
    },
  })
  const before = listeners()
  const closers: (() => Promise<void>)[] = []
  afterAll(async () => {
    for (const close of closers.reverse()) await close()
    await app.close()
    rmSync(dataDir, { recursive: true, force: true })
    await database.drop()
    removeGroupingVersion()
    expect(listeners(), 'servers the test left listening').toBe(before)
  })
  return {
    app,
    clock,
    mails,
    logLines,
    connectionString: database.connectionString,
    dataDir,
    onClose: (work) => void closers.push(work),
  }
}
