import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { AlertHistorySearch } from '../address/search.ts'
import { call, type AnswerOf, type BodyOf } from './call.ts'

export type AlertRule = AnswerOf<'GET /api/alerts'>['items'][number]
export type RuleAction = AlertRule['actions'][number]
export type NewRuleBody = BodyOf<'POST /api/alerts'>
export type RuleChangeBody = BodyOf<'PATCH /api/alerts/:ruleId'>
export type ActionBody = BodyOf<'POST /api/alerts/test-action'>['action']
export type ActionResult = AnswerOf<'POST /api/alerts/test-action'>
export type Alert = AnswerOf<'GET /api/alerts/fired'>['items'][number]
export type AlertDelivery = Alert['deliveries'][number]
export type DryRunBody = BodyOf<'POST /api/alerts/dry-run'>
export type DryRun = AnswerOf<'POST /api/alerts/dry-run'>

const RULES_PER_PAGE = 100
const ALERTS_PER_PAGE = 25

/** Pages of rules, newest first. */
export const alertRulesQuery = (projectId: string | null) =>
  infiniteQueryOptions({
    queryKey: ['alerts', 'rules', projectId],
    queryFn: ({ pageParam, signal }) =>
      call('GET /api/alerts', { query: { limit: String(RULES_PER_PAGE), projectId, cursor: pageParam }, signal }),
    initialPageParam: null as string | null,
    getNextPageParam: (last): string | null => last.next_cursor,
    meta: { quiet: true },
  })

export const alertRuleQuery = (ruleId: string) =>
  queryOptions({
    queryKey: ['alerts', 'rule', ruleId],
    queryFn: ({ signal }) => call('GET /api/alerts/:ruleId', { params: { ruleId }, signal }),
    meta: { quiet: true },
  })

/** Alerts in which a person may still have to do something, newest first. */
export const openAlertsQuery = (projectId: string | null) =>
  infiniteQueryOptions({
    queryKey: ['alerts', 'fired', 'open', projectId],
    queryFn: ({ pageParam, signal }) =>
      call('GET /api/alerts/fired', {
        query: { state: ['firing', 'acknowledged'], limit: '100', projectId, cursor: pageParam },
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (last): string | null => last.next_cursor,
    meta: { quiet: true },
  })

export type HistoryView = Pick<AlertHistorySearch, 'project' | 'state' | 'rule'>

/** Alerts that fired, newest first. */
export const alertHistoryQuery = ({ project, state, rule }: HistoryView) =>
  infiniteQueryOptions({
    queryKey: ['alerts', 'fired', 'history', { project, state, rule }],
    queryFn: ({ pageParam, signal }) =>
      call('GET /api/alerts/fired', {
        query: { limit: String(ALERTS_PER_PAGE), projectId: project, state, rule_id: rule, cursor: pageParam },
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (last): string | null => last.next_cursor,
    placeholderData: keepPreviousData,
    meta: { quiet: true },
  })

/** The newest alerts of an issue with their deliveries. */
export const issueAlertsQuery = (issueId: string) =>
  queryOptions({
    queryKey: ['alerts', 'fired', 'issue', issueId],
    queryFn: ({ signal }) => call('GET /api/alerts/fired', { query: { issue_id: issueId, limit: '20' }, signal }),
    meta: { quiet: true },
  })

export const alertQuery = (alertId: string) =>
  queryOptions({
    queryKey: ['alerts', 'alert', alertId],
    queryFn: ({ signal }) => call('GET /api/alerts/fired/:alertId', { params: { alertId }, signal }),
    meta: { quiet: true },
  })

/** Alerts that a rule would have fired. Not among `alerts`: a live message changes nothing about the past week. */
export const dryRunQuery = (body: DryRunBody) =>
  queryOptions({
    queryKey: ['alert-dry-run', body] as const,
    queryFn: ({ signal }) => call('POST /api/alerts/dry-run', { body, signal }),
    staleTime: 60_000,
    meta: { quiet: true },
  })
