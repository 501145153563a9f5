import { randomUUID } from 'node:crypto'
import { CHAT_TEAM } from '#test/kit/chat-platform.ts'
import type { Person } from '#test/kit/members.ts'
import { insertIssue } from '#test/kit/route-examples.ts'
import { createRule } from '../rules/create-rule.ts'
import { fireAlerts } from '../rules/fire-alerts.ts'
import { NewRule } from '../rules/rule.api.ts'
import { systemActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { insertLink } from './chat.queries.ts'

/** An alert that is firing, of a new rule of the owner's organisation. */
export async function aFiredAlert(
  app: App,
  owner: Person,
  { issue = true, rule: over = {} }: { readonly issue?: boolean; readonly rule?: Record<string, unknown> } = {},
): Promise<{ readonly alertId: string; readonly issueId: string | null; readonly ruleId: string }> {
  const of = await anIssueOf(app, owner)
  const rule = await createRule(
    app,
    owner.actor,
    NewRule.parse({ projectId: of.projectId, name: 'Crashes of the shop', trigger_type: 'issue_spike', ...over }),
  )
  const issueId = issue ? of.issueId : null
  const context = factContext(app, systemActor('evaluate-alerts'))
  const [alertId = ''] = await app.tx((tx) =>
    fireAlerts(tx, app, context, [
      {
        ruleId: rule.id,
        subject: issueId ?? '',
        issueId,
        cause: newId(),
        title: 'Spike: checkout fails',
        severity: 'high',
        value: 240,
        unit: 'events',
        threshold: 100,
        windowMinutes: 60,
        explanation: '240 events within an hour, usually 12.',
      },
    ]),
  )
  return { alertId, issueId, ruleId: rule.id }
}

async function anIssueOf(app: App, owner: Person): Promise<{ readonly projectId: string; readonly issueId: string }> {
  const issueId = await insertIssue(app, owner)
  const row = await app.db.selectFrom('issues').select('project_id').where('id', '=', issueId).executeTakeFirstOrThrow()
  return { projectId: row.project_id, issueId }
}

/** Links a user of the chat to a person. */
export async function aChatUser(app: App, { actor }: Person): Promise<string> {
  const chatUserId = `U${randomUUID().slice(0, 8)}`
  await app.tx((tx) =>
    insertLink(tx, {
      id: newId(),
      team_id: CHAT_TEAM.id,
      chat_user_id: chatUserId,
      team_name: CHAT_TEAM.domain,
      chat_user_name: 'ada',
      user_id: actor.userId,
      created_at: app.clock.now(),
    }),
  )
  return chatUserId
}
