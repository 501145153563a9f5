import { randomBytes, timingSafeEqual } from 'node:crypto'
import { type IncomingMessage, request } from 'node:http'
import { isDeepStrictEqual } from 'node:util'
import { errorText } from '../../platform/kernel/errors.ts'
import type { App } from '../../platform/context/app.ts'
import {
  newId,
  CANARY_ACTION_ID,
  CANARY_ORG_ID,
  CANARY_PROJECT_ID,
  CANARY_PROJECT_NUMBER,
  CANARY_RULE_ID,
} from '../../platform/kernel/ids.ts'
import { EVERY_ORG, publishLive } from '../../platform/live/publish.ts'
import {
  noteSent,
  restartRun,
  selectSnapshot,
  startRun,
  storeVerdict,
  type Snapshot,
  selectReport,
} from './canary.queries.ts'
import { judge } from './judge.ts'
import { envelopeOfRun } from './test-event.ts'
import { insertActions, insertRule, selectActions } from '../../alerts/rules/rules.queries.ts'
import { completeConditions } from '../../alerts/rules/conditions.ts'
import { insertHiddenOrg } from '../../identity/auth/auth.queries.ts'
import { sealedNewDataKey } from '../../identity/auth/org-sealer.ts'
import { LATEST_GROUPING_VERSION } from '../../issues/grouping/grouping-rules.api.ts'
import { openLane } from '../../platform/outbox/change-lane.ts'
import { newPublicKey } from '../../projects/registry/rotate-dsn.ts'
import { insertProject, insertProjectKey, readProjectKeys } from '../../projects/registry/projects.queries.ts'
import { lockUntilEnd } from '../../platform/storage/advisory-lock.queries.ts'
import { CANARY_CHANNEL } from './canary-channel.ts'
import { text } from 'node:stream/consumers'
import type { CanaryReport } from './canary.api.ts'

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

/** An arbitrary number: one process prepares, the others wait. */
const PREPARE_LOCK = 7_201_994_337
/** Letters that no slug of a member's organisation begins with. */
const SLUG = '.canary'
const NAME = 'End-to-end test'

/**
 * Makes what the test needs, where it is missing: the hidden organisation, its project, the rule and the lane of its
 * action. No facts: no member did it, and no member sees it.
 * @returns the key that the test sends with
 */
async function prepareCanary(app: App): Promise<string> {
  return app.tx(async (tx) => {
    await lockUntilEnd(tx, PREPARE_LOCK)
    const [known] = await readProjectKeys(tx, CANARY_PROJECT_ID)
    const now = app.clock.now()
    const publicKey = known?.public_key ?? newPublicKey()
    if (known === undefined) {
      await insertHiddenOrg(tx, {
        id: CANARY_ORG_ID,
        slug: SLUG,
        name: NAME,
        data_key_sealed: sealedNewDataKey(app, CANARY_ORG_ID),
        created_at: now,
      })
      await insertProject(tx, {
        id: CANARY_PROJECT_ID,
        number: CANARY_PROJECT_NUMBER,
        org_id: CANARY_ORG_ID,
        name: NAME,
        slug: 'canary',
        platform: 'other',
        // The intake takes the key in every region.
        region: 'eu-central-1',
        settings: JSON.stringify({ grouping_version: LATEST_GROUPING_VERSION }),
        created_at: now,
      })
      await insertProjectKey(tx, { id: newId(), project_id: CANARY_PROJECT_ID, public_key: publicKey, created_at: now })
    }
    if ((await selectActions(tx, [CANARY_RULE_ID])).length === 0) {
      await insertRule(tx, {
        id: CANARY_RULE_ID,
        org_id: CANARY_ORG_ID,
        project_id: CANARY_PROJECT_ID,
        name: NAME,
        trigger_type: 'new_issue',
        conditions: JSON.stringify(completeConditions('new_issue', {})),
        enabled: true,
        cooldown_minutes: 0,
        escalate_after_minutes: null,
        close_with_issue: false,
        created_by: null,
        created_at: now,
        updated_at: now,
      })
      await openLane(tx, { id: CANARY_ACTION_ID, orgId: CANARY_ORG_ID, channel: CANARY_CHANNEL })
      // The API takes no action of this type.
      await insertActions(tx, [
        {
          id: CANARY_ACTION_ID,
          rule_id: CANARY_RULE_ID,
          org_id: CANARY_ORG_ID,
          position: 0,
          is_escalation: false,
          type: 'canary',
        },
      ])
    }
    return publicKey
  })
}

/** Whose listener takes the event: this process's own. */
type OwnListener = {
  readonly host: string
  readonly port: number
  /** Headers that mark the request as the canary's. */
  readonly mark: Readonly<Record<string, string>>
}

const TIMEOUT_MS = 10_000
const MAX_REFUSAL_CHARACTERS = 200

/**
 * Sends an envelope to the intake of this process, as an SDK would. No address that a user typed is involved.
 * @returns null when the intake stored it, else what it answered
 */
async function sendTestEvent(
  listener: OwnListener,
  publicKey: string,
  envelope: Buffer,
  signal: AbortSignal,
): Promise<string | null> {
  const { promise, resolve, reject } = Promise.withResolvers<string | null>()
  const sending = request(
    {
      host: listener.host,
      port: listener.port,
      method: 'POST',
      path: `/api/${CANARY_PROJECT_NUMBER}/envelope/`,
      agent: false,
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
      headers: {
        ...listener.mark,
        'content-type': 'application/x-sentry-envelope',
        'content-length': envelope.length,
        'x-sentry-auth': `Sentry sentry_version=7, sentry_key=${publicKey}, sentry_client=faultline.canary/1.0.0`,
      },
    },
    (response) => {
      text(response).then(
        (body) => resolve(response.statusCode === 200 ? null : refusal(response.statusCode, body)),
        reject,
      )
    },
  )
  sending.on('error', reject)
  sending.end(envelope)
  return promise.catch((error: unknown) => short(errorText(error)))
}

const refusal = (status: number | undefined, body: string): string => short(`${status ?? '?'}: ${detailIn(body)}`)

/** The intake answers `{"detail": "…"}`. */
function detailIn(body: string): string {
  return /"detail":\s*"((?:[^"\\]|\\.)*)"/.exec(body)?.[1] ?? body
}

const short = (text_: string): string => text_.trim().slice(0, MAX_REFUSAL_CHARACTERS)

/** The result of the end-to-end test, as the processes that watch it have stored it. */
export async function readCanary({ db, config }: App): Promise<CanaryReport> {
  const { state, failed_step, explanation, ...times } = await selectReport(db)
  const interval_minutes = config.canaryMinutes
  if (interval_minutes === 0) return { state: 'off', failed_step: null, explanation: '', ...times, interval_minutes }
  return { state, failed_step, explanation, ...times, interval_minutes }
}
