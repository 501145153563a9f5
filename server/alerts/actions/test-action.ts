import { type ActionConfig, maskConfig, Masked, openConfig, describeActionTarget } from '../rules/action-config.ts'
import type { ActionResult } from '../rules/alerts.api.ts'
import { mailAlert } from '../rules/mail-alert.ts'
import type { ActionInput } from '../rules/rule.api.ts'
import { type ActionRow, selectActions, selectRule } from '../rules/rules.queries.ts'
import { buildActionConfig } from '../rules/save-actions.ts'
import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { conflict, invalid, notFound, unavailable } from '../../platform/kernel/errors.ts'
import { newPrefixedId } from '../../platform/kernel/ids.ts'
import { NotSentError } from '../../platform/outbox/channel.ts'
import { lenientOpener } from '../../identity/auth/lenient-sealer.ts'
import { selectProjectOfTest } from './actions.queries.ts'
import { countTest } from './count-test.ts'
import { sendAlert } from './send-alert.ts'
import { type TestedRule, testMessage } from './test-message.ts'
import { awaitTestResults, testedRule, testRecipient } from './test-rule.ts'

export type TestActionInput = {
  readonly projectId: string
  /** The rule that is being changed. */
  readonly rule_id?: string | undefined
  readonly action: ActionInput
}

/**
 * Sends a test through an action as a form has it, in one attempt. What the form does not know of a stored action, such
 * as its secret, is read.
 * @throws AppError not_found (project, rule), invalid (URL, missing values, an action that the rule does not have), conflict (unreadable), rate_limited
 */
export async function testAction(app: App, actor: OrgActor, input: TestActionInput): Promise<ActionResult> {
  const { action } = input
  const { rule, stored } = await readTested(app, actor, input)
  await countTest(app, actor)
  const message = testMessage(app, actor, rule)
  const shown = { action_id: stored?.id ?? null, type: action.type }
  if (action.type === 'email') {
    const to = action.to ?? stored?.recipients
    if (to === undefined || to === null) throw invalid('action.to is missing: team, assignee, or email addresses.')
    const sent = await app.tx((tx) => mailAlert(tx, app, { org_id: actor.orgId }, message, testRecipient(actor)))
    const target = describeActionTarget('email', {}, to)
    const [result] = await awaitTestResults(app, [{ actionId: shown.action_id, type: 'email', target, sent }])
    if (result === undefined) throw new Error('a test has no result')
    return result
  }
  const old = await openStored(app, actor, stored)
  const config = buildActionConfig(app, 'action', action, old, Masked.parse(stored?.masked ?? {}))
  const sending = {
    type: action.type,
    config,
    message,
    subject: '',
    body: Buffer.from(JSON.stringify(message)),
    deliveryId: newPrefixedId('d'),
    group: `tests of ${actor.orgId}`,
  }
  const result = await sendAlert(app, sending, new AbortController().signal).catch((error: unknown) => {
    throw error instanceof NotSentError ? unavailable('There is no free connection. Try again soon.') : error
  })
  const ok = result.outcome === 'delivered'
  return {
    ...shown,
    target: describeActionTarget(action.type, maskConfig(config), null),
    ok,
    state: result.outcome,
    status: result.status,
    error: ok ? null : (result.errorText ?? result.errorCode),
    duration_ms: result.durationMs,
  }
}

type Tested = { readonly rule: TestedRule; readonly stored: ActionRow | undefined }

async function readTested(
  app: App,
  actor: OrgActor,
  { projectId, rule_id: ruleId, action }: TestActionInput,
): Promise<Tested> {
  const project = await selectProjectOfTest(app.db, actor.orgId, projectId)
  if (project === undefined) throw notFound('Project')
  const unsaved = {
    id: null,
    name: 'a rule that is not saved',
    trigger: 'new_issue',
    conditions: { severity: undefined },
  } as const
  if (ruleId === undefined) {
    if (action.id !== undefined) throw invalid('rule_id is missing: the rule that has the action.')
    return { rule: { ...unsaved, project }, stored: undefined }
  }
  const rule = await selectRule(app.db, actor, ruleId)
  if (rule === undefined || rule.project_id !== projectId) throw notFound('Alert rule')
  if (action.id === undefined) return { rule: testedRule(rule), stored: undefined }
  const actions = await selectActions(app.db, [ruleId])
  const stored = actions.find(({ id, type }) => id === action.id && type === action.type)
  if (stored === undefined) throw invalid(`action.id is not the id of a ${action.type} action of this rule.`)
  return { rule: testedRule(rule), stored }
}

async function openStored(app: App, { orgId }: OrgActor, stored: ActionRow | undefined): Promise<ActionConfig> {
  if (stored?.config_sealed == null) return {}
  const opener = await lenientOpener(app, orgId)
  try {
    return openConfig(opener, orgId, stored.id, stored.config_sealed)
  } catch (error) {
    app.log.error({ err: error, action_id: stored.id }, 'the address or key of an alert action cannot be opened')
    throw conflict('The stored address or key of the action cannot be read. Set it again.')
  }
}
