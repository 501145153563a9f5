import type { SecurityKind, TriggerType } from '#shared/alert-rules.ts'
import { isClosed, SEVERITIES, type SeverityName, severityName, shortId } from '#shared/issue-values.ts'
import { z } from 'zod'
import type { FactContext, FactSubscriber, RecordedFact } from '../../platform/context/actor.ts'
import { findEventEnvironments } from '../../events/store/store.queries.ts'
import { type FactKind, isFactKind, factKind } from '../../history/facts/kinds.ts'
import { closeLane } from '../../platform/outbox/close-lane.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { endAlerts } from './end-alerts.ts'
import { type IssueOfFact, lockOpenOfIssues, selectIssuesOfFacts } from './fired.queries.ts'
import { fireAlerts, type Firing } from './fire-alerts.ts'
import type { AlertParts } from './view-rule.ts'
import { ConditionsInput } from './rule.api.ts'
import { actionIdsOfProject, addIssueMinutes, type ListeningRule, rulesListening } from './rules.queries.ts'
import { DAY_MS } from '../../platform/kernel/day.ts'

/**
 * Effects of facts on alerts, in the transaction that records them: rules of issues fire, alerts end with their issue,
 * and events of issues are counted by minute for spikes.
 */
export const recordAlerts =
  (parts: AlertParts): FactSubscriber =>
  async (tx, context, facts) => {
    const reasons = facts.flatMap((fact) => reasonOf(fact, context) ?? [])
    const received = facts.filter(({ kind }) => kind === 'issue.events_received')
    const projectIds = [...new Set([...reasons, ...received].flatMap(({ projectId }) => projectId ?? []))]
    const triggers = new Set(reasons.map(({ trigger }) => trigger))
    if (received.length > 0) triggers.add('issue_spike')
    const rules = projectIds.length === 0 ? [] : await rulesListening(tx, projectIds, [...triggers])
    await countMinutes(tx, context, rules, received)
    await endWithIssues(tx, parts, context, facts)
    await fireOnFacts(tx, parts, context, rules, reasons, reopenings(facts))
    for (const { kind, projectId } of facts)
      if (kind === 'project.deleted' && projectId !== undefined)
        for (const laneId of await actionIdsOfProject(tx, projectId)) await closeLane(tx, laneId, 'project_deleted')
  }

// Firing

/** A reason to fire, of one issue. */
type Reason = {
  readonly trigger: TriggerType
  readonly projectId: string
  readonly issueId: string
  readonly cause: string
  readonly eventId: string | null
  readonly sentence: string
  readonly securityKind: SecurityKind | null
}

const WithEvent = z.object({ event_id: z.string().optional() })
const Security = z.object({ kind: z.string() })
const Rise = z.object({ from: z.enum(SEVERITIES), to: z.enum(SEVERITIES) })

const triggerOfFact = (kind: string): TriggerType | undefined =>
  isFactKind(kind) ? factKind(kind satisfies FactKind).alert : undefined

function reasonOf(fact: RecordedFact, context: FactContext): Reason | null {
  const { kind, projectId, issueId, sentence = '' } = fact
  const trigger = triggerOfFact(kind)
  // Most facts are of no interest, and every transaction of digestion has hundreds.
  if (trigger === undefined && kind !== 'issue.severity_changed') return null
  if (projectId === undefined || issueId === undefined) return null
  const eventId = WithEvent.safeParse(fact.data).data?.event_id ?? null
  const of = { projectId, issueId, eventId, sentence, securityKind: null }
  if (trigger === 'security_event') {
    const securityKind = Security.parse(fact.data).kind as SecurityKind
    return { ...of, trigger, cause: `fact ${fact.id}`, securityKind }
  }
  // A member's change of the status is no event of the app.
  if (trigger !== undefined && context.origin !== 'api')
    return { ...of, trigger, cause: trigger === 'new_issue' ? NEW : `fact ${fact.id}` }
  // A new issue that becomes severe later is as new to a rule that takes only severe ones.
  if (trigger === undefined && context.origin !== 'api' && isRise(fact))
    return { ...of, trigger: 'new_issue', cause: NEW, eventId: null }
  return null
}

/** An issue is new to a rule once. */
const NEW = 'new'

function isRise({ data }: RecordedFact): boolean {
  const rise = Rise.safeParse(data)
  return rise.success && SEVERITIES.indexOf(rise.data.to) < SEVERITIES.indexOf(rise.data.from)
}

/** How long an issue is new. */
const NEW_MS = 86_400_000

async function fireOnFacts(
  tx: Tx,
  parts: AlertParts,
  context: FactContext,
  rules: readonly ListeningRule[],
  reasons: readonly Reason[],
  reopened: ReadonlyMap<string, string>,
): Promise<void> {
  if (rules.length === 0) return
  const heard = new Set(rules.map(({ project_id, trigger_type }) => `${project_id}/${trigger_type}`))
  const wanted = reasons.filter(({ projectId, trigger }) => heard.has(`${projectId}/${trigger}`))
  if (wanted.length === 0) return
  const issues = new Map(
    (await selectIssuesOfFacts(tx, [...new Set(wanted.map(({ issueId }) => issueId))])).map((issue) => [
      issue.id,
      issue,
    ]),
  )
  const environments = await environmentsOfReasons(tx, context, rules, wanted, issues)
  const firings: Firing[] = []
  for (const rule of rules) {
    const conditions = ConditionsInput.parse(rule.conditions)
    for (const reason of wanted) {
      const issue = issues.get(reason.issueId)
      if (issue === undefined || reason.projectId !== rule.project_id || reason.trigger !== rule.trigger_type) continue
      if (isClosed(issue.status)) continue
      if (reason.cause === NEW && context.at.getTime() - issue.created_at.getTime() > NEW_MS) continue
      const severity = severityOf(reason, issue)
      if (!meets(conditions, reason, severity, environments)) continue
      firings.push(firingOf(rule, conditions, reason, issue, severity, reopened.get(reason.issueId)))
    }
  }
  await fireAlerts(tx, parts, context, firings)
}

/** By issue: why events opened one again that was resolved or ignored. */
const reopenings = (facts: readonly RecordedFact[]): Map<string, string> =>
  new Map(
    facts.flatMap(({ kind, issueId, sentence }) =>
      issueId !== undefined && sentence !== undefined && REOPENING.has(kind) ? [[issueId, sentence]] : [],
    ),
  )

const REOPENING: ReadonlySet<string> = new Set<FactKind>(['issue.regressed', 'issue.reopened', 'issue.escalated'])

/** Security events are severe by themselves, whatever the level that the SDK gave them. */
function severityOf({ trigger }: Reason, { severity }: IssueOfFact): SeverityName {
  const name = severityName(severity)
  return trigger === 'security_event' && name !== 'critical' ? 'high' : name
}

function meets(
  { severity: min, environment, kinds }: ConditionsInput,
  { trigger, eventId, issueId, securityKind }: Reason,
  severity: SeverityName,
  environments: ReadonlyMap<string, string>,
): boolean {
  if (min !== undefined && SEVERITIES.indexOf(severity) > SEVERITIES.indexOf(min)) return false
  const isOfEvent = trigger === 'new_issue' || trigger === 'issue_regression'
  if (isOfEvent && environment !== undefined && environments.get(eventId ?? issueId) !== environment) return false
  return trigger !== 'security_event' || kinds === undefined || kinds.some((kind) => kind === securityKind)
}

/** Environments by event id; by issue id, of its newest event, where the reason names no event. Read only if a rule asks. */
async function environmentsOfReasons(
  tx: Tx,
  context: FactContext,
  rules: readonly ListeningRule[],
  reasons: readonly Reason[],
  issues: ReadonlyMap<string, IssueOfFact>,
): Promise<Map<string, string>> {
  if (!rules.some(({ conditions }) => ConditionsInput.parse(conditions).environment !== undefined)) return new Map()
  const keys = reasons.flatMap(({ projectId, eventId, issueId }) => {
    const id = eventId ?? issues.get(issueId)?.last_event_id?.replaceAll('-', '')
    return id === undefined ? [] : [{ projectId, eventId: id, key: eventId ?? issueId }]
  })
  const found = await findEventEnvironments(tx, keys, context.at)
  return new Map(
    keys.flatMap(({ projectId, eventId, key }) => {
      const environment = found.get(`${projectId}/${eventId}`)
      return environment === undefined ? [] : [[key, environment]]
    }),
  )
}

const TITLES: Readonly<Record<'new_issue' | 'issue_regression' | 'issue_spike' | 'security_event', string>> = {
  new_issue: 'New issue',
  issue_regression: 'Came back',
  issue_spike: 'Spike',
  security_event: 'Security event',
}

const isTitled = (trigger: TriggerType): trigger is keyof typeof TITLES => Object.hasOwn(TITLES, trigger)

function firingOf(
  rule: ListeningRule,
  conditions: ConditionsInput,
  { trigger, issueId, cause, sentence }: Reason,
  issue: IssueOfFact,
  severity: SeverityName,
  reopening: string | undefined,
): Firing {
  const name = `${shortId(issue.project_slug, issue.number)} ${issue.title}`
  return {
    ruleId: rule.id,
    subject: issueId,
    issueId,
    cause,
    title: isTitled(trigger) ? `${TITLES[trigger]}: ${issue.title}` : issue.title,
    severity,
    value: null,
    unit: null,
    threshold: trigger === 'issue_spike' ? (conditions.threshold ?? null) : null,
    windowMinutes: null,
    explanation: explain(trigger, name, sentence, issue, reopening),
  }
}

function explain(
  trigger: TriggerType,
  name: string,
  sentence: string,
  { project_name, last_release }: IssueOfFact,
  reopening: string | undefined,
): string {
  const release = last_release === null ? '' : ` in ${last_release}`
  switch (trigger) {
    case 'new_issue':
      return `${name} occurred for the first time in ${project_name}${release}.`
    case 'security_event':
      return `${name} is a security event${release} of ${project_name}.${reopening === undefined ? '' : ` ${reopening}`}`
    default:
      return `${name}: ${sentence}`
  }
}

// Ending

const Status = z.object({ from: z.string(), to: z.string() })

const ENDS: Readonly<Record<string, string>> = {
  resolved: 'The issue was resolved.',
  ignored: 'The issue was ignored.',
}

/** Only alerts of spikes end with it. */
const CALM = 'The issue is no longer escalated.'

/** Why alerts of the issue end with this fact. */
function endOf({ kind, data }: RecordedFact): string | null {
  if (kind === 'issue.status_changed' || kind === 'issue.status_restored') {
    const status = Status.safeParse(data).data
    if (status?.from === 'escalated' && status.to === 'unresolved') return CALM
    return ENDS[status?.to ?? ''] ?? null
  }
  if (kind === 'issue.deleted') return 'The issue was deleted.'
  if (kind === 'issue.discarded') return 'The issue was discarded.'
  if (kind === 'issue.merged_into') return 'The issue was merged into another.'
  return null
}

async function endWithIssues(
  tx: Tx,
  parts: AlertParts,
  context: FactContext,
  facts: readonly RecordedFact[],
): Promise<void> {
  const ended = facts.flatMap((fact) => {
    const reason = endOf(fact)
    return reason === null || fact.issueId === undefined ? [] : [{ reason, issueId: fact.issueId }]
  })
  if (ended.length === 0) return
  const open = await lockOpenOfIssues(
    tx,
    ended.map(({ issueId }) => issueId),
  )
  if (open.length === 0) return
  for (const [reason, ofReason] of Map.groupBy(ended, (one) => one.reason)) {
    const issueIds = new Set(ofReason.map(({ issueId }) => issueId))
    await endAlerts(
      tx,
      parts,
      context,
      open.filter(
        ({ issue_id, trigger_type }) =>
          issue_id !== null && issueIds.has(issue_id) && (reason !== CALM || trigger_type === 'issue_spike'),
      ),
      { state: 'resolved', reason },
    )
  }
}

// Counting for spikes

const Received = z.object({ minutes: z.array(z.tuple([z.number(), z.number()])) })

/** Counts events that happened within the longest window. */
async function countMinutes(
  tx: Tx,
  { at }: FactContext,
  rules: readonly ListeningRule[],
  received: readonly RecordedFact[],
): Promise<void> {
  const projects = new Set(
    rules.flatMap(({ trigger_type, project_id }) => (trigger_type === 'issue_spike' ? [project_id] : [])),
  )
  if (projects.size === 0) return
  const now = at.getTime()
  await addIssueMinutes(
    tx,
    received.flatMap(({ projectId, issueId, data }) => {
      if (projectId === undefined || issueId === undefined || !projects.has(projectId)) return []
      return Received.parse(data)
        .minutes.filter(([minute]) => minute > now - DAY_MS && minute <= now)
        .map(([minute, events]) => ({ projectId, issueId, minute: new Date(minute), events }))
    }),
  )
}
