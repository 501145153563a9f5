/**
 * Closed lists of the issue API, for validation on the server and for filters and addresses of the dashboard. Names of
 * an issue: its short id, its severity.
 */

export const ISSUE_STATUSES = ['unresolved', 'resolved', 'ignored', 'regressed', 'escalated'] as const
export type IssueStatusName = (typeof ISSUE_STATUSES)[number]
/** Whether an issue in this status is resolved or ignored, so that its events fire no alerts. */
export const isClosed = (status: IssueStatusName): boolean => status === 'resolved' || status === 'ignored'

/** Highest first. */
export const SEVERITIES = ['critical', 'high', 'medium', 'low'] as const
export type SeverityName = (typeof SEVERITIES)[number]

/** Severities as stored in the database: a larger number is worse. */
const SEVERITY_RANKS: Readonly<Record<SeverityName, number>> = { low: 0, medium: 1, high: 2, critical: 3 }
const SEVERITY_NAMES: readonly SeverityName[] = ['low', 'medium', 'high', 'critical']

export const severityRank = (severity: SeverityName): number => SEVERITY_RANKS[severity]
export const severityName = (rank: number): SeverityName => SEVERITY_NAMES[rank] ?? 'medium'

/** `SHOP-42`: the project's slug and the issue's number in it. */
export const shortId = (projectSlug: string, number: number): string => `${projectSlug.toUpperCase()}-${number}`

export const ISSUE_SORT_FIELDS = ['last_seen', 'first_seen', 'event_count', 'user_count', 'severity'] as const
/** Counts of the range that a list is asked for. */
export const RANGE_SORT_FIELDS = ['event_count_in_range', 'user_count_in_range'] as const
type SortField = (typeof ISSUE_SORT_FIELDS)[number] | (typeof RANGE_SORT_FIELDS)[number]
/** Every sort of issue lists: ascending and, with a leading `-`, descending. */
export const ISSUE_SORTS = [
  'last_seen',
  '-last_seen',
  'first_seen',
  '-first_seen',
  'event_count',
  '-event_count',
  'user_count',
  '-user_count',
  'severity',
  '-severity',
  'event_count_in_range',
  '-event_count_in_range',
  'user_count_in_range',
  '-user_count_in_range',
] as const satisfies readonly `${'-' | ''}${SortField}`[]

/** Time ranges of figures and charts, ending now. */
export const RANGES = ['1h', '24h', '7d', '30d'] as const
export type RangeName = (typeof RANGES)[number]

/** Parts that similar issues share: error type, culprit, or at least half of the words of their messages. */
export const SIMILAR_PARTS = ['type', 'culprit', 'message'] as const
export type SimilarPart = (typeof SIMILAR_PARTS)[number]
