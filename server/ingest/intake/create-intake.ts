import type { IncomingMessage, ServerResponse } from 'node:http'
import type { App } from '../../platform/context/app.ts'
import { createOrgQuota } from '../limits/org-quota.ts'
import { createRateLimiter, createCountSharing } from '../limits/rate-limiter.ts'
import { createFloodSampling } from '../limits/flood-sampling.ts'
import { createRejectedOutcomes, type RejectedOutcomes } from '../outcomes/rejected-outcomes.ts'
import type { HandOver } from '../spool/hand-over.ts'
import type { IntakeLog } from '../spool/intake-log.ts'
import type { SpoolFile } from '../spool/spool-file.ts'
import { createSpool, type Spool, type SpoolLimits } from '../spool/write.ts'
import { createBodies } from './intake-body.ts'
import { createCounters, type IntakeCounters } from './answers.ts'
import { handleIntake, type IntakeDeps } from './intake.ts'
import { createProjectKeys, type ProjectKeys } from './project-keys.ts'
import { createRefusedKeys } from './count-refused.ts'

export type Intake = {
  /** Handles SDK traffic; returns false for other requests. */
  handle(request: IncomingMessage, response: ServerResponse): boolean
  readonly keys: ProjectKeys
  readonly spool: Spool
  readonly counters: IntakeCounters
  readonly rejected: RejectedOutcomes
  /** Waits until accepted requests are on disk; call after the server stopped listening and before the App closes. */
  close(): Promise<void>
}

export type IntakeOptions = {
  readonly addressOf: IntakeDeps['addressOf']
  /** Limits of the backlog, where they differ from the product's. */
  readonly spoolLimits?: Partial<SpoolLimits>
  /** Passes what was stored to the digest thread of this process. */
  readonly handOver?: HandOver | null
  /** Takes rows for the digest threads of this process beside the table; closed by the caller. */
  readonly file?: SpoolFile | null
  /** Takes what is accepted, in front of the spool; closed by the caller. */
  readonly log?: IntakeLog | null
  /** Requests that no figure counts: the canary's. Default none. */
  readonly isUncounted?: IntakeDeps['isUncounted']
  /** Default 30 s (docs/protocol.md §6). */
  readonly bodyTimeoutMs?: number
}

const BODY_TIMEOUT_MS = 30_000

/** Creates the intake with its caches; it uses up to two connections of the app's pool. */
export function createIntake(app: App, options: IntakeOptions): Intake {
  const nowMs = (): number => app.clock.monotonicMs()
  const sharing = createCountSharing(app, (name, quantity) => limiter.addForeign(name, quantity))
  const limiter = createRateLimiter({
    scale: app.config.rateLimitScale,
    loopbackExempt: app.config.mode === 'relaxed',
    nowMs,
    onTaken: (name, quantity, perBurst) => sharing.share(name, quantity, perBurst),
  })
  const deps: IntakeDeps = {
    keys: createProjectKeys(app),
    refusedKeys: createRefusedKeys(app),
    spool: createSpool(app, options.spoolLimits, options.handOver, options.log, options.file),
    limiter,
    quota: createOrgQuota(app),
    floods: createFloodSampling(nowMs),
    rejected: createRejectedOutcomes(app),
    bodies: createBodies(),
    counters: createCounters(),
    addressOf: options.addressOf,
    isUncounted: options.isUncounted ?? (() => false),
    bodyTimeoutMs: options.bodyTimeoutMs ?? BODY_TIMEOUT_MS,
  }
  // Settings of a project are cached with its keys.
  const stops = [app.bus.onGap(() => deps.keys.expireAll()), app.bus.on('project', () => deps.keys.expireAll())]
  return {
    handle: (request, response) => handleIntake(app, deps, request, response),
    keys: deps.keys,
    spool: deps.spool,
    counters: deps.counters,
    rejected: deps.rejected,
    async close() {
      for (const stop of stops) stop()
      await deps.spool.close()
      await deps.keys.close()
      await deps.refusedKeys.close()
      await sharing.close()
      await deps.quota.close()
      await deps.rejected.close()
    },
  }
}
