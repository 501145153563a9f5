import { linkOptions } from '@tanstack/react-router'
import type {
  AlertHistorySearch,
  AlertsSearch,
  AskSearch,
  AuditSearch,
  FeedbackSearch,
  IssueEventsSearch,
  IssueSearch,
  IssuesSearch,
  LoginSearch,
  LogsSearch,
  MetricsSearch,
  MonitorSearch,
  MonitorsSearch,
  NewRuleSearch,
  OnboardingSearch,
  PerformanceSearch,
  QuerySearch,
  ReleasesSearch,
  SessionEndReason,
  ShellSearch,
  TraceSearch,
  TracesSearch,
  TraceMetricsSearch,
  WebhooksSearch,
} from './search.ts'

/** Every link of the dashboard, to be spread into a `Link` or passed to `navigate`. */
export const paths = {
  home: () => linkOptions({ to: '/' }),
  login: (next?: string) => linkOptions({ to: '/login', search: { next } }),
  loginSso: (next?: string) => linkOptions({ to: '/login', search: { next, step: 'sso' } }),
  /** After a session that the service ended. */
  loginAfter: (ended: SessionEndReason, next?: string) => linkOptions({ to: '/login', search: { next, ended } }),
  loginDone: (done: NonNullable<LoginSearch['done']>) => linkOptions({ to: '/login', search: { done } }),
  signup: () => linkOptions({ to: '/signup' }),
  forgot: () => linkOptions({ to: '/forgot' }),
  onboarding: (search: OnboardingSearch = {}) => linkOptions({ to: '/onboarding', search }),
  issues: (search: IssuesSearch = {}) => linkOptions({ to: '/issues', search }),
  issue: (issueId: string, search: IssueSearch = {}) =>
    linkOptions({ to: '/issues/$issueId', params: { issueId }, search }),
  feedback: (search: FeedbackSearch = {}) => linkOptions({ to: '/feedback', search }),
  alerts: (search: AlertsSearch = {}) => linkOptions({ to: '/alerts', search }),
  alertHistory: (search: AlertHistorySearch = {}) => linkOptions({ to: '/alerts/history', search }),
  alertRules: (search: AlertsSearch = {}) => linkOptions({ to: '/alerts/rules', search }),
  newAlertRule: (search: NewRuleSearch = {}) => linkOptions({ to: '/alerts/rules/new', search }),
  alertRule: (ruleId: string, search: AlertsSearch = {}) =>
    linkOptions({ to: '/alerts/rules/$ruleId', params: { ruleId }, search }),
  issueEvents: (issueId: string, search: IssueEventsSearch = {}) =>
    linkOptions({ to: '/issues/$issueId/events', params: { issueId }, search }),
  metrics: (search: MetricsSearch = {}) => linkOptions({ to: '/metrics', search }),
  performance: (search: PerformanceSearch = {}) => linkOptions({ to: '/performance', search }),
  screens: (search: PerformanceSearch = {}) => linkOptions({ to: '/performance/screens', search }),
  anr: (search: PerformanceSearch = {}) => linkOptions({ to: '/performance/anr', search }),
  transaction: (name: string, search: PerformanceSearch = {}) =>
    linkOptions({ to: '/performance/t/$name', params: { name }, search }),
  battery: (search: PerformanceSearch = {}) => linkOptions({ to: '/performance/battery', search }),
  overview: (search: ShellSearch = {}) => linkOptions({ to: '/overview', search }),
  logs: (search: LogsSearch = {}) => linkOptions({ to: '/logs', search }),
  traceMetrics: (search: TraceMetricsSearch = {}) => linkOptions({ to: '/trace-metrics', search }),
  monitors: (search: MonitorsSearch = {}) => linkOptions({ to: '/monitors', search }),
  monitor: (monitorId: string, search: MonitorSearch = {}) =>
    linkOptions({ to: '/monitors/$monitorId', params: { monitorId }, search }),
  releases: (search: ReleasesSearch = {}) => linkOptions({ to: '/releases', search }),
  release: (releaseId: string, search: ReleasesSearch = {}) =>
    linkOptions({ to: '/releases/$releaseId', params: { releaseId }, search }),
  traces: (search: TracesSearch = {}) => linkOptions({ to: '/traces', search }),
  trace: (traceId: string, search: TraceSearch = {}) =>
    linkOptions({ to: '/traces/$traceId', params: { traceId }, search }),
  symbols: (search: ShellSearch = {}) => linkOptions({ to: '/symbols', search }),
  ask: (search: AskSearch = {}) => linkOptions({ to: '/ask', search }),
  query: (search: QuerySearch = {}) => linkOptions({ to: '/query', search }),
  intake: (search: ShellSearch = {}) => linkOptions({ to: '/intake', search }),
  chooseSettings: () => linkOptions({ to: '/projects' }),
  projectGeneral: (projectId: string) =>
    linkOptions({ to: '/projects/$projectId/settings/general', params: { projectId } }),
  projectKeys: (projectId: string) => linkOptions({ to: '/projects/$projectId/settings/keys', params: { projectId } }),
  projectInstall: (projectId: string) =>
    linkOptions({ to: '/projects/$projectId/settings/install', params: { projectId } }),
  projectRetention: (projectId: string) =>
    linkOptions({ to: '/projects/$projectId/settings/retention', params: { projectId } }),
  projectFilters: (projectId: string) =>
    linkOptions({ to: '/projects/$projectId/settings/filters', params: { projectId } }),
  projectScrubbing: (projectId: string) =>
    linkOptions({ to: '/projects/$projectId/settings/scrubbing', params: { projectId } }),
  projectGrouping: (projectId: string) =>
    linkOptions({ to: '/projects/$projectId/settings/grouping', params: { projectId } }),
  projectOwnership: (projectId: string) =>
    linkOptions({ to: '/projects/$projectId/settings/ownership', params: { projectId } }),
  projectIntegrations: (projectId: string) =>
    linkOptions({ to: '/projects/$projectId/settings/integrations', params: { projectId } }),
  organisationGeneral: () => linkOptions({ to: '/org/general' }),
  members: () => linkOptions({ to: '/org/members' }),
  apiKeys: () => linkOptions({ to: '/org/api-keys' }),
  assistant: () => linkOptions({ to: '/org/assistant' }),
  sso: () => linkOptions({ to: '/org/sso' }),
  webhooks: (search: WebhooksSearch = {}) => linkOptions({ to: '/org/webhooks', search }),
  imports: () => linkOptions({ to: '/org/import' }),
  import: (importId: string) => linkOptions({ to: '/org/import/$importId', params: { importId } }),
  audit: (search: AuditSearch = {}) => linkOptions({ to: '/org/audit', search }),
  operator: () => linkOptions({ to: '/operator' }),
  profile: () => linkOptions({ to: '/me/profile' }),
  security: () => linkOptions({ to: '/me/security' }),
  sessions: () => linkOptions({ to: '/me/sessions' }),
  notifications: () => linkOptions({ to: '/me/notifications' }),
  appearance: () => linkOptions({ to: '/me/appearance' }),
} as const

/** The search parameters that links between pages keep. */
export const carried = ({ project, range }: ShellSearch): ShellSearch => ({ project, range })
