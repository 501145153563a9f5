import { expect, test } from 'vitest'
import type { AlertRule } from '../../api/alert-queries.ts'
import {
  actionBody,
  actionProblem,
  ruleChangeBody,
  conditionProblems,
  conditionsBody,
  draftConditions,
  copyRule,
  newRuleBody,
  differ,
  toRuleDraft,
  dryRunBody,
  isIncomplete,
  newAction,
  newDraft,
  withMetric,
} from './rule-draft.ts'

const PROJECT = '019a0000-0000-7000-8000-000000000001'
const AT = '2026-11-20T12:00:00.000Z'

const RULE: AlertRule = {
  id: '019a0000-0000-7000-8000-000000000002',
  projectId: PROJECT,
  project: { id: PROJECT, name: 'shopper', slug: 'shopper', platform: 'android' },
  name: 'Spikes',
  trigger_type: 'issue_spike',
  conditions: { threshold: 100, window_minutes: 60, multiplier: 5, severity: 'medium' },
  unused_conditions: {},
  actions: [
    {
      id: '019a0000-0000-7000-8000-000000000003',
      type: 'webhook',
      webhook_url: 'https://ci.example.com/…',
      secret_prefix: 'whsec_abc',
      last_status: 200,
      last_attempt_at: AT,
      needs_attention: false,
    },
    {
      id: '019a0000-0000-7000-8000-000000000004',
      type: 'email',
      to: ['ines@example.com', 'tom@example.com'],
      last_status: null,
      last_attempt_at: null,
      needs_attention: false,
    },
  ],
  enabled: true,
  cooldown_minutes: 60,
  escalate_after_minutes: null,
  escalation_actions: [],
  close_with_issue: true,
  created_by: null,
  created_at: AT,
  updated_at: AT,
  last_fired_at: null,
  firing_count: 0,
}

test('a stored rule is unchanged until something is typed, and its masked targets are kept', () => {
  const draft = toRuleDraft(RULE)
  expect(ruleChangeBody(draft, RULE)).toBeNull()
  expect(isIncomplete(draft)).toBe(false)
  const [webhook, mail] = draft.actions
  expect(webhook === undefined ? null : actionBody(webhook)).toEqual({ id: RULE.actions[0]?.id, type: 'webhook' })
  expect(mail === undefined ? null : actionBody(mail)).toMatchObject({ to: ['ines@example.com', 'tom@example.com'] })
  expect(ruleChangeBody({ ...draft, name: 'Other' }, RULE)).toEqual({ name: 'Other' })
})

test('only what differs is sent; another trigger is sent with its conditions', () => {
  const draft = toRuleDraft(RULE)
  const spike = { ...draftConditions('issue_spike', RULE.conditions), threshold: '1,500' }
  expect(ruleChangeBody({ ...draft, conditions: { issue_spike: spike } }, RULE)).toEqual({
    conditions: { threshold: 1500, window_minutes: 60, multiplier: 5, severity: 'medium' },
  })
  expect(ruleChangeBody({ ...draft, trigger: 'critical_path' }, RULE)).toEqual({
    trigger_type: 'critical_path',
    conditions: { threshold: 2, window_minutes: 15, min_count: 20 },
  })
  const [webhook] = draft.actions
  if (webhook === undefined) throw new Error('the rule has an action')
  const moved = { ...webhook, target: 'https://new.example.com/hook' }
  expect(ruleChangeBody({ ...draft, actions: [moved] }, RULE)).toEqual({
    actions: [{ id: webhook.id, type: 'webhook', webhook_url: 'https://new.example.com/hook' }],
  })
})

test('conditions have the keys of their trigger only, and percentages no percentile', () => {
  expect(conditionsBody('performance_threshold', draftConditions('performance_threshold'))).toEqual({
    threshold: 5000,
    window_minutes: 60,
    metric: 'cold_start',
    percentile: 'p95',
    min_count: 50,
  })
  const anr = withMetric(draftConditions('performance_threshold'), 'anr_rate')
  expect(conditionsBody('performance_threshold', anr)).toEqual({
    threshold: 0.47,
    window_minutes: 60,
    metric: 'anr_rate',
    min_count: 50,
  })
  expect(conditionsBody('new_issue', draftConditions('new_issue'))).toEqual({})
  // Any severity is said, because security events have a default of their own.
  const security = { ...draftConditions('security_event'), severity: '' as const }
  expect(conditionsBody('security_event', security)).toEqual({ severity: 'low' })
})

test('a threshold that was typed stays when the metric changes within its unit', () => {
  const typed = { ...draftConditions('performance_threshold'), threshold: '1200' }
  expect(withMetric(typed, 'warm_start').threshold).toBe('1200')
  expect(withMetric(typed, 'frozen_frames').threshold).toBe('5')
})

test('thresholds of 0, below, not finite or out of their unit are refused', () => {
  const wrong = (trigger: 'issue_spike' | 'pre_crash_state', threshold: string) =>
    conditionProblems(trigger, { ...draftConditions(trigger), threshold }).has('threshold')
  for (const text of ['', '0', '-1', 'many', 'Infinity', '1e308']) expect(wrong('issue_spike', text), text).toBe(true)
  expect(wrong('issue_spike', '100')).toBe(false)
  expect(wrong('pre_crash_state', '0.8')).toBe(false)
  expect(wrong('pre_crash_state', '1.1')).toBe(true)
  const path = draftConditions('critical_path')
  expect(conditionProblems('critical_path', { ...path, threshold: '140' }).has('threshold')).toBe(true)
  expect(conditionProblems('critical_path', { ...path, journeyBy: 'time', threshold: '140' }).size).toBe(0)
})

test('a condition that was added needs its value', () => {
  const draft = draftConditions('new_issue')
  expect(conditionProblems('new_issue', draft).size).toBe(0)
  expect([...conditionProblems('new_issue', { ...draft, environment: ' ' })]).toEqual(['environment'])
  expect([...conditionProblems('security_event', { ...draftConditions('security_event'), kinds: new Set() })]).toEqual([
    'kinds',
  ])
})

test('channels need a target unless one is stored', () => {
  expect(actionProblem(newAction('chat'))).toBe('url')
  expect(actionProblem({ ...newAction('chat'), target: 'not a url' })).toBe('url')
  expect(actionProblem({ ...newAction('chat'), target: 'https://hooks.example.com/x' })).toBeNull()
  expect(actionProblem(newAction('pager'))).toBe('key')
  expect(actionProblem(newAction('email'))).toBeNull()
  expect(actionProblem({ ...newAction('email'), to: 'list' })).toBe('addresses')
  expect(actionProblem({ ...newAction('webhook'), target: 'https://a.example', secret: 'short' })).toBe('secret')
})

test('a copy needs its URLs again, and keeps recipients', () => {
  const copy = copyRule(RULE, 'Spikes (copy)')
  expect(isIncomplete(copy)).toBe(true)
  expect(copy.actions.map((action) => actionProblem(action))).toEqual(['url', null])
  expect(differ(copy, copy)).toBe(false)
})

test('a new rule begins with what the address says', () => {
  const draft = newDraft(PROJECT, { trigger: 'performance_threshold', metric: 'anr_rate' })
  expect(isIncomplete(draft)).toBe(true)
  expect(newRuleBody({ ...draft, name: 'ANR' })).toMatchObject({
    projectId: PROJECT,
    name: 'ANR',
    trigger_type: 'performance_threshold',
    conditions: { metric: 'anr_rate', threshold: 0.47 },
    actions: [{ type: 'email', to: 'team' }],
    escalate_after_minutes: null,
    escalation_actions: [],
  })
  expect(dryRunBody(newDraft('', {}))).toBeNull()
  expect(dryRunBody(draft)).toMatchObject({ projectId: PROJECT, trigger_type: 'performance_threshold' })
})

test('an escalation needs its time and a channel', () => {
  const draft = { ...toRuleDraft(RULE), isEscalating: true }
  expect(isIncomplete(draft)).toBe(true)
  const complete = { ...draft, escalations: [newAction('email')] }
  expect(isIncomplete(complete)).toBe(false)
  expect(isIncomplete({ ...complete, escalateAfter: '0' })).toBe(true)
  expect(ruleChangeBody(complete, RULE)).toMatchObject({
    escalate_after_minutes: 30,
    escalation_actions: [{ type: 'email', to: 'team' }],
  })
})
