import {
  defaultThreshold,
  MAX_PERCENT,
  maxThreshold,
  NAMED_METRICS,
  PERCENT_METRICS,
  alertTrigger,
  type ActionType,
  type ConditionKey,
  type Percentile,
  type PerformanceMetric,
  type MonitorKind,
  type SecurityKind,
  type TriggerType,
} from '#shared/alert-rules.ts'
import type { SeverityName } from '#shared/issue-values.ts'
import type {
  ActionBody,
  AlertRule,
  DryRunBody,
  NewRuleBody,
  RuleAction,
  RuleChangeBody,
} from '../../api/alert-queries.ts'
import type { NewRuleSearch } from '../../address/search.ts'

/** The draft of a rule as it is typed into the builder. Pure. */

export type AlertKind = SecurityKind | MonitorKind

export type ConditionsDraft = {
  threshold: string
  window: number
  /** Empty for any. */
  severity: SeverityName | ''
  multiplier: string
  minSessions: string
  minCount: string
  metric: PerformanceMetric
  percentile: Percentile
  /** A `critical_path` rule watches failures, or the time. */
  journeyBy: 'failures' | 'time'
  /** Null where the condition was not added. */
  environment: string | null
  minUsers: string | null
  kinds: ReadonlySet<AlertKind> | null
  transaction: string | null
  monitor: string | null
}

export type ActionDraft = {
  /** Identifies the row. */
  key: string
  /** The id of an action that the rule has. */
  id: string | null
  type: ActionType
  /** The stored URL or key, as the service masks it. */
  masked: string | null
  /** The URL or key; empty keeps the stored one. */
  target: string
  to: 'team' | 'assignee' | 'list'
  addresses: string
  /** The secret of a webhook; empty makes a new one, or keeps the stored one. */
  secret: string
}

export type RuleDraft = {
  projectId: string
  name: string
  trigger: TriggerType
  /** Conditions of each trigger that was chosen, so that changing back loses nothing. */
  conditions: Readonly<Partial<Record<TriggerType, ConditionsDraft>>>
  actions: readonly ActionDraft[]
  cooldown: number
  isClosing: boolean
  isEscalating: boolean
  escalateAfter: string
  escalations: readonly ActionDraft[]
}

type GivenConditions = AlertRule['conditions']

const DEFAULT_ESCALATE_MINUTES = '30'

const numberText = (value: number | undefined): string => (value === undefined ? '' : String(value))

/** The conditions of a trigger, with its defaults where nothing is given. */
export function draftConditions(trigger: TriggerType, given: GivenConditions = {}): ConditionsDraft {
  const { defaults } = alertTrigger(trigger)
  const metric = given.metric ?? defaults.metric ?? 'cold_start'
  const threshold = given.threshold ?? defaultThreshold(trigger, metric)
  return {
    threshold: numberText(threshold),
    window: given.window_minutes ?? defaults.window_minutes ?? 60,
    severity: given.severity ?? defaults.severity ?? '',
    multiplier: numberText(given.multiplier ?? defaults.multiplier),
    minSessions: numberText(given.min_sessions ?? defaults.min_sessions),
    minCount: numberText(given.min_count ?? defaults.min_count),
    metric,
    percentile: given.percentile ?? defaults.percentile ?? 'p95',
    journeyBy: trigger === 'critical_path' && (threshold ?? 0) > MAX_PERCENT ? 'time' : 'failures',
    environment: given.environment ?? null,
    minUsers: given.min_users === undefined ? null : String(given.min_users),
    kinds: (given.kinds ?? defaults.kinds) === undefined ? null : new Set(given.kinds ?? defaults.kinds),
    transaction: given.transaction ?? null,
    monitor: given.monitor ?? null,
  }
}

/** The conditions of the chosen trigger. */
export const conditionsNow = ({ trigger, conditions }: RuleDraft): ConditionsDraft =>
  conditions[trigger] ?? draftConditions(trigger)

/** Another metric has another scale: an unchanged threshold follows it. */
export function withMetric(draft: ConditionsDraft, metric: PerformanceMetric): ConditionsDraft {
  const was = numberText(defaultThreshold('performance_threshold', draft.metric))
  const isUntouched = draft.threshold === was || isPercent(metric) !== isPercent(draft.metric)
  return {
    ...draft,
    metric,
    threshold: isUntouched ? numberText(defaultThreshold('performance_threshold', metric)) : draft.threshold,
  }
}

export const isPercent = (metric: PerformanceMetric): boolean => PERCENT_METRICS.includes(metric)
export const isNamed = (metric: PerformanceMetric): boolean => NAMED_METRICS.includes(metric)

let lastKey = 0
const newKey = (): string => `new ${(lastKey += 1)}`

export const newAction = (type: ActionType): ActionDraft => ({
  key: newKey(),
  id: null,
  type,
  masked: null,
  target: '',
  to: 'team',
  addresses: '',
  secret: '',
})

const actionDraftOf = (action: RuleAction): ActionDraft => ({
  key: action.id,
  id: action.id,
  type: action.type,
  masked: action.webhook_url ?? action.routing_key ?? action.chat_id ?? null,
  target: '',
  to: Array.isArray(action.to) ? 'list' : (action.to ?? 'team'),
  addresses: Array.isArray(action.to) ? action.to.join(', ') : '',
  secret: '',
})

export const toRuleDraft = (rule: AlertRule): RuleDraft => ({
  projectId: rule.projectId,
  name: rule.name,
  trigger: rule.trigger_type,
  conditions: { [rule.trigger_type]: draftConditions(rule.trigger_type, rule.conditions) },
  actions: rule.actions.map(actionDraftOf),
  cooldown: rule.cooldown_minutes,
  isClosing: rule.close_with_issue,
  isEscalating: rule.escalate_after_minutes !== null,
  escalateAfter: numberText(rule.escalate_after_minutes ?? undefined) || DEFAULT_ESCALATE_MINUTES,
  escalations: rule.escalation_actions.map(actionDraftOf),
})

/** A copy as a new rule. URLs and keys are not readable, so they have to be entered again. */
export function copyRule(rule: AlertRule, name: string): RuleDraft {
  const draft = toRuleDraft(rule)
  const copied = (action: ActionDraft): ActionDraft => ({ ...action, key: newKey(), id: null, masked: null })
  return {
    ...draft,
    name,
    actions: draft.actions.map(copied),
    escalations: draft.escalations.map(copied),
  }
}

/** A new rule: what the address asks for, with an e-mail to the team. */
export function newDraft(projectId: string, search: NewRuleSearch): RuleDraft {
  const trigger = search.trigger ?? 'issue_spike'
  const given: GivenConditions = {
    ...(search.metric === undefined ? {} : { metric: search.metric }),
    ...(search.percentile === undefined ? {} : { percentile: search.percentile }),
    ...(search.threshold === undefined ? {} : { threshold: Number(search.threshold) }),
    ...(search.transaction === undefined ? {} : { transaction: search.transaction }),
    ...(search.monitor === undefined ? {} : { monitor: search.monitor }),
  }
  return {
    projectId,
    name: '',
    trigger,
    conditions: { [trigger]: draftConditions(trigger, given) },
    actions: [newAction('email')],
    cooldown: 60,
    isClosing: true,
    isEscalating: false,
    escalateAfter: DEFAULT_ESCALATE_MINUTES,
    escalations: [],
  }
}

const numberOf = (text: string): number => (text.trim() === '' ? Number.NaN : Number(text.replaceAll(',', '').trim()))

type ConditionsBody = NonNullable<NewRuleBody['conditions']>

/** The conditions as the API takes them: those that belong to the trigger. */
export function conditionsBody(trigger: TriggerType, draft: ConditionsDraft): ConditionsBody {
  const { keys } = alertTrigger(trigger)
  const has = (key: ConditionKey): boolean =>
    keys.includes(key) &&
    !(key === 'percentile' && isPercent(draft.metric)) &&
    !(key === 'transaction' && !isNamed(draft.metric))
  return {
    ...(has('threshold') ? { threshold: numberOf(draft.threshold) } : {}),
    ...(has('window_minutes') ? { window_minutes: draft.window } : {}),
    ...(has('severity') && draft.severity !== '' ? { severity: draft.severity } : {}),
    // Without it the default of the trigger would apply.
    ...(has('severity') && draft.severity === '' && alertTrigger(trigger).defaults.severity !== undefined
      ? { severity: 'low' as const }
      : {}),
    ...(has('multiplier') ? { multiplier: numberOf(draft.multiplier) } : {}),
    ...(has('min_sessions') ? { min_sessions: numberOf(draft.minSessions) } : {}),
    ...(has('min_count') ? { min_count: numberOf(draft.minCount) } : {}),
    ...(has('metric') ? { metric: draft.metric } : {}),
    ...(has('percentile') ? { percentile: draft.percentile } : {}),
    ...(has('environment') && draft.environment !== null ? { environment: draft.environment.trim() } : {}),
    ...(has('min_users') && draft.minUsers !== null ? { min_users: numberOf(draft.minUsers) } : {}),
    ...(has('kinds') && draft.kinds !== null ? { kinds: [...draft.kinds] } : {}),
    ...(has('transaction') && draft.transaction !== null ? { transaction: draft.transaction.trim() } : {}),
    ...(has('monitor') && draft.monitor !== null ? { monitor: draft.monitor.trim() } : {}),
  }
}

const addressesOf = (text: string): string[] => text.split(/[\s,;]+/).filter((one) => one !== '')

/** An action as the API takes it; what is empty keeps what is stored. */
export function actionBody(action: ActionDraft): ActionBody {
  const id = action.id === null ? {} : { id: action.id }
  const target = action.target.trim()
  const url = target === '' ? {} : { webhook_url: target }
  const secret = action.secret.trim()
  switch (action.type) {
    case 'chat':
    case 'teamchat':
    case 'discord':
    case 'mattermost':
      return { ...id, type: action.type, ...url }
    case 'ntfy':
      return { ...id, type: 'ntfy', ...url, ...(secret === '' ? {} : { access_token: secret }) }
    case 'telegram':
      return {
        ...id,
        type: 'telegram',
        ...(target === '' ? {} : { chat_id: target }),
        ...(secret === '' ? {} : { bot_token: secret }),
      }
    case 'webhook':
      return { ...id, type: 'webhook', ...url, ...(action.secret === '' ? {} : { secret: action.secret }) }
    case 'pager':
      return { ...id, type: 'pager', ...(target === '' ? {} : { routing_key: target }) }
    case 'email':
      return { ...id, type: 'email', to: action.to === 'list' ? addressesOf(action.addresses) : action.to }
  }
}

const fieldsOf = (draft: RuleDraft) => ({
  name: draft.name.trim(),
  trigger_type: draft.trigger,
  conditions: conditionsBody(draft.trigger, conditionsNow(draft)),
  actions: draft.actions.map(actionBody),
  cooldown_minutes: draft.cooldown,
  close_with_issue: draft.isClosing,
  escalate_after_minutes: draft.isEscalating ? numberOf(draft.escalateAfter) : null,
  escalation_actions: draft.isEscalating ? draft.escalations.map(actionBody) : [],
})

export const newRuleBody = (draft: RuleDraft): NewRuleBody => ({ projectId: draft.projectId, ...fieldsOf(draft) })

/** Only what differs; null when nothing does. */
export function ruleChangeBody(draft: RuleDraft, rule: AlertRule): RuleChangeBody | null {
  const before = fieldsOf(toRuleDraft(rule))
  const after = fieldsOf(draft)
  const differs = (key: keyof typeof after): boolean => JSON.stringify(after[key]) !== JSON.stringify(before[key])
  const body: RuleChangeBody = {
    ...(differs('name') ? { name: after.name } : {}),
    // A trigger without its conditions would be checked against those of the one before.
    ...(differs('trigger_type') ? { trigger_type: after.trigger_type, conditions: after.conditions } : {}),
    ...(differs('conditions') ? { conditions: after.conditions } : {}),
    ...(differs('actions') ? { actions: after.actions } : {}),
    ...(differs('cooldown_minutes') ? { cooldown_minutes: after.cooldown_minutes } : {}),
    ...(differs('close_with_issue') ? { close_with_issue: after.close_with_issue } : {}),
    ...(differs('escalate_after_minutes') ? { escalate_after_minutes: after.escalate_after_minutes } : {}),
    ...(differs('escalation_actions') ? { escalation_actions: after.escalation_actions } : {}),
  }
  return Object.keys(body).length === 0 ? null : body
}

/** Whether leaving would lose something. */
export const differ = (a: RuleDraft, b: RuleDraft): boolean =>
  a.projectId !== b.projectId || JSON.stringify(fieldsOf(a)) !== JSON.stringify(fieldsOf(b))

export type ConditionProblem =
  | 'threshold'
  | 'multiplier'
  | 'minUsers'
  | 'minSessions'
  | 'minCount'
  | 'environment'
  | 'transaction'
  | 'monitor'
  | 'kinds'
export type ActionProblem = 'url' | 'key' | 'addresses' | 'secret' | 'token' | 'chat'

const isChatId = (text: string): boolean => /^(?:-?\d{1,20}|@[A-Za-z]\w{3,31})$/.test(text)

const isWithin = (text: string, min: number, max: number, isWhole: boolean): boolean => {
  const value = numberOf(text)
  return Number.isFinite(value) && value >= min && value <= max && (!isWhole || Number.isInteger(value))
}
const isCount = (text: string): boolean => isWithin(text, 1, 1_000_000_000, true)

function isThreshold(trigger: TriggerType, draft: ConditionsDraft): boolean {
  const value = numberOf(draft.threshold)
  if (!(value > 0)) return false
  if (trigger === 'critical_path')
    return draft.journeyBy === 'time' ? value > MAX_PERCENT && value <= maxThreshold(trigger) : value <= MAX_PERCENT
  return value <= maxThreshold(trigger, trigger === 'performance_threshold' ? draft.metric : undefined)
}

/** Conditions that are missing or no number in range; the service decides about the rest. */
export function conditionProblems(trigger: TriggerType, draft: ConditionsDraft): ReadonlySet<ConditionProblem> {
  const { keys } = alertTrigger(trigger)
  const found = new Set<ConditionProblem>()
  if (keys.includes('threshold') && !isThreshold(trigger, draft)) found.add('threshold')
  if (keys.includes('multiplier') && !isWithin(draft.multiplier, 1, 1000, false)) found.add('multiplier')
  if (keys.includes('min_users') && draft.minUsers !== null && !isCount(draft.minUsers)) found.add('minUsers')
  if (keys.includes('min_sessions') && !isCount(draft.minSessions)) found.add('minSessions')
  if (keys.includes('min_count') && !isCount(draft.minCount)) found.add('minCount')
  if (keys.includes('environment') && draft.environment?.trim() === '') found.add('environment')
  if (keys.includes('transaction') && isNamed(draft.metric) && draft.transaction?.trim() === '')
    found.add('transaction')
  if (keys.includes('monitor') && draft.monitor?.trim() === '') found.add('monitor')
  if (keys.includes('kinds') && draft.kinds?.size === 0) found.add('kinds')
  return found
}

export function actionProblem(action: ActionDraft): ActionProblem | null {
  const target = action.target.trim()
  switch (action.type) {
    case 'email':
      return action.to === 'list' && addressesOf(action.addresses).length === 0 ? 'addresses' : null
    case 'pager':
      return target === '' && action.id === null ? 'key' : null
    case 'telegram': {
      if (action.id === null && action.secret.trim() === '') return 'token'
      if (action.secret !== '' && !/^\d{5,20}:[\w-]{20,100}$/.test(action.secret.trim())) return 'token'
      return target === '' ? (action.id === null ? 'chat' : null) : isChatId(target) ? null : 'chat'
    }
    case 'chat':
    case 'teamchat':
    case 'discord':
    case 'mattermost':
    case 'ntfy':
    case 'webhook': {
      const isKept = target === '' && action.id !== null
      if (!isKept && !(/^https?:\/\/\S+$/i.test(target) && URL.canParse(target))) return 'url'
      return action.type === 'webhook' && action.secret !== '' && !/^[\x21-\x7e]{16,200}$/.test(action.secret)
        ? 'secret'
        : null
    }
  }
}

export const isEscalationTime = (text: string): boolean => isWithin(text, 1, 10_080, true)

/** Whether the draft lacks something that a rule needs. */
export const isIncomplete = (draft: RuleDraft): boolean =>
  draft.projectId === '' ||
  draft.name.trim() === '' ||
  conditionProblems(draft.trigger, conditionsNow(draft)).size > 0 ||
  draft.actions.some((action) => actionProblem(action) !== null) ||
  (draft.isEscalating &&
    (!isEscalationTime(draft.escalateAfter) ||
      draft.escalations.length === 0 ||
      draft.escalations.some((action) => actionProblem(action) !== null)))

/** The body of a dry run; null while a condition is missing. */
export function dryRunBody(draft: RuleDraft): DryRunBody | null {
  const conditions = conditionsNow(draft)
  if (draft.projectId === '' || conditionProblems(draft.trigger, conditions).size > 0) return null
  return {
    projectId: draft.projectId,
    trigger_type: draft.trigger,
    conditions: conditionsBody(draft.trigger, conditions),
    cooldown_minutes: draft.cooldown,
  }
}
