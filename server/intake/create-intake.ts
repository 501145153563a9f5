import type { IncomingMessage, ServerResponse } from 'node:http'
import type { App } from '../context/app.ts'
import { createOrgQuota } from '../limits/org-quota.ts'
import { createRateLimiter } from '../limits/rate-limiter.ts'
import { createCountSharing } from '../limits/share-counts.ts'
import { createStorms } from '../limits/storm.ts'
import { createDoorLedger, type DoorLedger } from '../outcomes/door-ledger.ts'
import { createSpool, type Spool, type SpoolLimits } from '../spool/write.ts'
import { createBodies } from './intake-body.ts'
import { createCounters, type IntakeCounters } from './intake-counters.ts'
import { handleIntake, type IntakeDeps } from './intake.ts'
import { createProjectKeys, type ProjectKeys } from './project-keys.ts'

export type Intake = {
  /** Takes SDK traffic; false when the request is not. */
  handle(request: IncomingMessage, response: ServerResponse): boolean
  readonly keys: ProjectKeys
  readonly spool: Spool
  readonly counters: IntakeCounters
  /** Outcomes of what was refused here, not written yet. */
  readonly ledger: DoorLedger
  /** Waits for what was taken to be on disk; call after the server stopped taking requests and before the App closes. */
  close(): Promise<void>
}

export type IntakeOptions = {
  readonly addressOf: IntakeDeps['addressOf']
  /** What may wait before nothing more is taken; those of the product unless given. */
  readonly spoolLimits?: Partial<SpoolLimits>
  /** Default 30 s (docs/protocol.md §6). */
  readonly bodyTimeoutMs?: number
}

const BODY_TIMEOUT_MS = 30_000

/** Builds the intake with its caches and connections: holds up to two connections of the given pool while in use. */
export function createIntake(app: App, options: IntakeOptions): Intake {
  const nowMs = (): number => app.clock.monotonicMs()
  const sharing = createCountSharing(app, (name, quantity) => limiter.addForeign(name, quantity))
  const limiter = createRateLimiter({
    scale: app.config.rateLimitScale,
    loopbackExempt: app.config.mode === 'relaxed',
    nowMs,
    tell: (name, quantity, perBurst) => sharing.tell(name, quantity, perBurst),
  })
  const deps: IntakeDeps = {
    keys: createProjectKeys(app),
    spool: createSpool(app, options.spoolLimits),
    limiter,
    quota: createOrgQuota(app),
    storms: createStorms(nowMs),
    ledger: createDoorLedger(app),
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
    ledger: deps.ledger,
    async close() {
      for (const stop of stops) stop()
      await deps.spool.close()
      await deps.keys.close()
      await sharing.close()
      await deps.quota.close()
      await deps.ledger.close()
    },
  }
}
