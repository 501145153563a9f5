import type { ActionType, TriggerType } from '#shared/alert-rules.ts'
import { Masked, describeActionTarget } from '../rules/action-config.ts'
import type { AlertMessage } from '../rules/alert-message.ts'
import type { ActionResult } from '../rules/alerts.api.ts'
import { mailAlert, type MailedAlert } from '../rules/mail-alert.ts'
import { ConditionsInput } from '../rules/rule.api.ts'
import { type ActionRow, type RuleRow, selectActions, selectRule } from '../rules/rules.queries.ts'
import { memberBehind, type OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { conflict, notFound } from '../../platform/kernel/errors.ts'
import { enqueue } from '../../platform/outbox/enqueue.ts'
import type { Tx } from '../../platform/storage/database.ts'
import type { SentRow } from './actions.queries.ts'
import { countTest } from './count-test.ts'
import { awaitTests } from './await-tests.ts'
import { type TestedRule, testMessage } from './test-message.ts'

/** An action with the deliveries of its test: several for mails. */
type Tested = {
  readonly actionId: string | null
  readonly type: ActionType
  readonly target: string
  readonly sent: readonly MailedAlert[]
}

/**
 * Sends a test through actions of a rule, one attempt each, as alerts are sent: through the outbox and its workers.
 * @throws AppError not_found (rule, action), conflict (no actions), rate_limited
 */
export async function testRule(
  app: App,
  actor: OrgActor,
  { ruleId, actionId }: { readonly ruleId: string; readonly actionId?: string | undefined },
): Promise<{ results: ActionResult[] }> {
  const rule = await selectRule(app.db, actor, ruleId)
  if (rule === undefined) throw notFound('Alert rule')
  const actions = await selectActions(app.db, [ruleId])
  if (actions.length === 0) throw conflict('The rule has no actions. Add one to test it.')
  const chosen = actionId === undefined ? actions : actions.filter(({ id }) => id === actionId)
  if (chosen.length === 0) throw notFound('Action')
  await countTest(app, actor)
  const message = testMessage(app, actor, testedRule(rule))
  const tested = await app.tx((tx) => sendTests(tx, app, actor, message, chosen))
  return { results: await awaitTestResults(app, tested) }
}

export const testedRule = (rule: RuleRow): TestedRule => ({
  id: rule.id,
  name: rule.name,
  trigger: rule.trigger_type as TriggerType,
  conditions: ConditionsInput.parse(rule.conditions),
  project: {
    id: rule.project_id,
    name: rule.project_name,
    slug: rule.project_slug,
    platform: rule.project_platform,
  },
})

async function sendTests(
  tx: Tx,
  app: App,
  actor: OrgActor,
  message: AlertMessage,
  actions: readonly ActionRow[],
): Promise<Tested[]> {
  const { orgId } = actor
  const caller = testRecipient(actor)
  const lanes = actions.filter(({ type }) => type !== 'email')
  const ids = await enqueue(
    tx,
    lanes.length === 0
      ? []
      : [{ id: message.id, orgId, type: message.type, userId: null, body: Buffer.from(JSON.stringify(message)) }],
    lanes.map(({ id }) => ({ messageId: message.id, laneId: id })),
  )
  const deliveries = new Map(lanes.map(({ id }, index) => [id, ids[index] ?? null]))
  const tested: Tested[] = []
  for (const { id, type, masked, recipients } of actions) {
    const of = { actionId: id, type: type as ActionType }
    const target = describeActionTarget(of.type, Masked.parse(masked), recipients)
    const sent =
      type === 'email'
        ? await mailAlert(tx, app, { org_id: orgId }, message, caller)
        : [{ target, deliveryId: deliveries.get(id) ?? null, skipped: null }]
    tested.push({ ...of, target, sent })
  }
  return tested
}

/** Tests of mails go to the member who sends them: an address of the rule may belong to someone who did not ask for it. */
export const testRecipient = (actor: OrgActor): { readonly userId: string | null } => ({
  userId: memberBehind(actor)?.userId ?? null,
})

/** Waits for the attempts. @returns a result for each action */
export async function awaitTestResults(app: App, tested: readonly Tested[]): Promise<ActionResult[]> {
  const ids = tested.flatMap(({ sent }) => sent.flatMap(({ deliveryId }) => deliveryId ?? []))
  const rows = await awaitTests(app, ids)
  return tested.map(({ actionId, type, target, sent }) => {
    const results = sent.map(({ deliveryId, skipped }) => resultOf(rows.get(deliveryId ?? ''), skipped))
    const worst = results.find(({ state }) => state === 'failed') ?? results.find(({ state }) => state === 'pending')
    return { action_id: actionId, type, target, ...(worst ?? results[0] ?? PENDING) }
  })
}

const PENDING = { ok: false, state: 'pending', status: null, error: null, duration_ms: null } as const

function resultOf(
  row: SentRow | undefined,
  skipped: string | null,
): Pick<ActionResult, 'ok' | 'state' | 'status' | 'error' | 'duration_ms'> {
  if (skipped !== null) return { ...PENDING, state: 'failed', error: skipped }
  if (row === undefined || (row.attempts === 0 && row.reason === null)) return PENDING
  const ok = row.state === 'delivered'
  return {
    ok,
    state: ok ? 'delivered' : 'failed',
    status: row.status,
    error: ok ? null : (row.errorText ?? row.errorCode ?? row.reason),
    duration_ms: row.durationMs,
  }
}
