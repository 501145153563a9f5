import type { IncomingMessage, ServerResponse } from 'node:http'
import type { App } from '../context/app.ts'
import { createSpool, type Spool } from '../spool/write.ts'
import { createBodies } from './intake-body.ts'
import { createCounters, type IntakeCounters } from './intake-counters.ts'
import { handleIntake, type IntakeDeps } from './intake.ts'
import { createRateLimiter } from './limits.ts'
import { createProjectKeys, type ProjectKeys } from './project-keys.ts'
import { createRefusals, type RefusedRow } from './refusals.ts'

export type Intake = {
  /** Takes SDK traffic; false when the request is not. */
  handle(request: IncomingMessage, response: ServerResponse): boolean
  readonly keys: ProjectKeys
  readonly spool: Spool
  readonly counters: IntakeCounters
  /** Waits for what was taken to be on disk; call after the server stopped taking requests and before the App closes. */
  close(): Promise<void>
}

export type IntakeOptions = {
  readonly addressOf: IntakeDeps['addressOf']
  /** Adds refused items to the outcomes; see {@link createRefusals}. */
  readonly recordRefusals: (rows: readonly RefusedRow[]) => Promise<void>
  /** Default 30 s (security.md 4.17). */
  readonly bodyTimeoutMs?: number
}

const BODY_TIMEOUT_MS = 30_000

/** Builds the intake with its caches and connections: holds up to two connections of the given pool while in use. */
export function createIntake(app: App, options: IntakeOptions): Intake {
  const deps: IntakeDeps = {
    keys: createProjectKeys(app),
    spool: createSpool(app),
    limiter: createRateLimiter({
      scale: app.config.rateLimitScale,
      loopbackExempt: app.config.mode === 'relaxed',
      nowMs: () => app.clock.monotonicMs(),
    }),
    refusals: createRefusals(app, options.recordRefusals),
    bodies: createBodies(),
    counters: createCounters(),
    addressOf: options.addressOf,
    bodyTimeoutMs: options.bodyTimeoutMs ?? BODY_TIMEOUT_MS,
  }
  // Settings of a project travel with its keys.
  const stops = [app.bus.onGap(() => deps.keys.expireAll()), app.bus.on('project', () => deps.keys.expireAll())]
  return {
    handle: (request, response) => handleIntake(app, deps, request, response),
    keys: deps.keys,
    spool: deps.spool,
    counters: deps.counters,
    async close() {
      for (const stop of stops) stop()
      await deps.spool.close()
      await deps.keys.close()
      await deps.refusals.close()
    },
  }
}
