/**
 * The tools of `/mcp`: names for operations of the API. Arguments, permission, validation and answers are those of the
 * operation, so a tool cannot drift from it.
 */
export type Tool = {
  readonly operation: string
  /** The name that a client shows to its user. */
  readonly title: string
  /** For the model; by default the summary and description of the operation. */
  readonly description?: string
  /** `reads`: nothing changes; `adds`: something new appears; `changes`: something gets another value. */
  readonly effect: 'reads' | 'adds' | 'changes'
  /** The answer has texts that apps and their users wrote. */
  readonly hasTexts?: true
  /** Fields of the body that the tool sets itself. */
  readonly fixed?: Readonly<Record<string, unknown>>
  /** The only fields of query and body that the tool offers; all by default. */
  readonly offers?: readonly string[]
  /** Fields of query and body that the tool does not offer. */
  readonly hides?: readonly string[]
  /** Fields of the body that the tool demands though the operation does not. */
  readonly demands?: readonly string[]
}

export const TOOLS = {
  list_projects: { operation: 'listProjects', title: 'List projects', effect: 'reads' },
  list_issues: {
    operation: 'searchIssues',
    title: 'List or search issues',
    effect: 'reads',
    hasTexts: true,
  },
  read_issue: {
    operation: 'readIssue',
    title: 'Read an issue',
    description:
      'An issue in full: one event with its stack, breadcrumbs and contexts, tags, feedback of users, activity and analysis. issueId is the UUID; list_issues finds it for a short id such as SHOP-42.',
    effect: 'reads',
    hasTexts: true,
  },
  list_issue_events: {
    operation: 'listIssueEvents',
    title: 'List events of an issue',
    effect: 'reads',
    hasTexts: true,
  },
  read_issue_event: {
    operation: 'readIssueEvent',
    title: 'Read an event of an issue',
    effect: 'reads',
    hasTexts: true,
  },
  read_shared_values: {
    operation: 'readSharedValues',
    title: 'What events of an issue have in common',
    effect: 'reads',
    hasTexts: true,
  },
  read_issue_trend: { operation: 'readIssueTrend', title: 'Events of an issue over time', effect: 'reads' },
  list_issue_releases: { operation: 'listIssueReleases', title: 'Releases of an issue', effect: 'reads' },
  list_similar_issues: {
    operation: 'listSimilar',
    title: 'Issues that resemble an issue',
    effect: 'reads',
    hasTexts: true,
  },
  list_comments: { operation: 'listComments', title: 'List comments of an issue', effect: 'reads', hasTexts: true },
  list_feedback: { operation: 'listFeedback', title: 'List feedback of users', effect: 'reads', hasTexts: true },
  read_issue_volume: { operation: 'readVolume', title: 'Error events over time', effect: 'reads' },
  list_releases: { operation: 'listReleases', title: 'List releases', effect: 'reads', hides: ['format'] },
  read_release: { operation: 'readRelease', title: 'Read a release', effect: 'reads' },
  list_release_commits: {
    operation: 'listReleaseCommits',
    title: 'List commits of a release',
    effect: 'reads',
    hasTexts: true,
  },
  list_deploys: { operation: 'listDeploys', title: 'List deploys of a release', effect: 'reads' },
  read_overview: { operation: 'readOverview', title: 'Overview of a project', effect: 'reads' },
  read_metrics: {
    operation: 'readMetrics',
    title: 'Crash rate, ANR rate, events or users over time',
    effect: 'reads',
    hides: ['format'],
  },
  read_breakdown: {
    operation: 'readBreakdown',
    title: 'Crash and ANR rates by release, environment, system or device',
    effect: 'reads',
    hides: ['format'],
  },
  read_performance: { operation: 'readPerformance', title: 'Starts, screens and transactions', effect: 'reads' },
  list_screens: { operation: 'listScreens', title: 'List screens by their speed', effect: 'reads', hides: ['format'] },
  read_screen: { operation: 'readScreen', title: 'Read a screen', effect: 'reads' },
  list_transactions: {
    operation: 'listTransactions',
    title: 'List transactions by their speed',
    effect: 'reads',
    hides: ['format'],
  },
  list_fired_alerts: { operation: 'listFiredAlerts', title: 'List alerts that fired', effect: 'reads', hasTexts: true },
  read_fired_alert: { operation: 'readFiredAlert', title: 'Read an alert that fired', effect: 'reads', hasTexts: true },
  list_members: { operation: 'listMembers', title: 'List members, for their ids', effect: 'reads' },
  ask: {
    operation: 'ask',
    title: 'Ask a question',
    description:
      'Answers a question in plain English about the projects of the organisation, with the sources of its figures. The last message is the question; earlier ones are its context. The other tools have more detail.',
    effect: 'reads',
    hasTexts: true,
  },
  run_query: {
    operation: 'runQuery',
    title: 'Ask for a table',
    description:
      'Answers a question, or one typed SELECT, with rows of the views issues, events, app_sessions, performance and releases of a project. Read-only; at most 1,000 rows. Send either query (a question in plain English) or sql.',
    effect: 'reads',
    hasTexts: true,
  },
  resolve_issue: {
    operation: 'updateIssue',
    title: 'Resolve an issue',
    description:
      'Sets the status of an issue to resolved. With `resolution` it says where the fix is: now, in a release, in the next release or in a commit; a later event of a release with the fix makes it regressed.',
    effect: 'changes',
    fixed: { status: 'resolved' },
    offers: ['resolution'],
  },
  reopen_issue: {
    operation: 'updateIssue',
    title: 'Reopen an issue',
    description: 'Sets the status of a resolved or ignored issue to unresolved.',
    effect: 'changes',
    fixed: { status: 'unresolved' },
    offers: [],
  },
  ignore_issue: {
    operation: 'updateIssue',
    title: 'Ignore an issue',
    description:
      'Sets the status of an issue to ignored. `ignore_until` has conditions, the first of which ends it; without it the issue stays ignored.',
    effect: 'changes',
    fixed: { status: 'ignored' },
    offers: ['ignore_until'],
  },
  assign_issue: {
    operation: 'updateIssue',
    title: 'Assign an issue',
    description: 'Assigns an issue to a member by the id that list_members has; null removes the assignee.',
    effect: 'changes',
    offers: ['assignee_id'],
    demands: ['assignee_id'],
  },
  set_issue_severity: {
    operation: 'updateIssue',
    title: 'Set the severity of an issue',
    description: 'Pins the severity of an issue; null lets the rules of the project decide again.',
    effect: 'changes',
    offers: ['severity'],
    demands: ['severity'],
  },
  comment_on_issue: { operation: 'createComment', title: 'Comment on an issue', effect: 'adds' },
  analyse_issue: {
    operation: 'analyseIssue',
    title: 'Analyse an issue',
    description:
      'The probable cause of an issue with its evidence, a next step and how certain it is. It is stored with the issue and may use the model of the installation; read_issue has the newest as ai_analysis.',
    effect: 'adds',
    hasTexts: true,
  },
} as const satisfies Record<string, Tool>

/** Arguments by which a caller makes an answer shorter, as sentences name them. */
export const NARROWING: readonly string[] = ['limit', 'range', 'from', 'q', 'query', 'projectId', 'event']
