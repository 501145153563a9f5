import { formatCount } from '../../../ui/format.ts'
import type { Import } from '../../../api/import-queries.ts'

const issues = (count: number): string => `${formatCount(count)} ${count === 1 ? 'issue' : 'issues'}`

/** Texts of the pages of imports. */
export const importTexts = {
  title: 'Import',
  lead: 'Bring projects, issues, comments, releases and members from Sentry or GlitchTip.',
  what: 'Imports',
  silent: 'Nothing that is imported tells anyone.',
  silentMore:
    'No alert, mail, webhook or ticket comes from an import. Apps in the field keep sending to their old DSN until you move the host name.',

  source: {
    title: 'Connect a source',
    url: 'Address',
    urlHint: 'Such as https://sentry.example.com. For a private network, allow the address first.',
    organisation: 'Organisation there',
    organisationHint: 'Its slug, as in the address of its pages.',
    token: 'Token',
    tokenHint:
      'With read access to the organisation, projects, issues, members, releases and alerts. Stored encrypted.',
    submit: 'Read projects',
    missing: { url: 'Enter the address.', organisation: 'Enter the slug.', token: 'Enter a token.' },
  },

  list: {
    title: 'Imports',
    columns: { source: 'Source', state: 'State', issues: 'Issues', started: 'Started', by: 'By' },
  },
  states: { mapping: 'Mapping', running: 'Running', paused: 'Paused', stopped: 'Stopped', done: 'Done' },
  unknownPerson: 'a former member',

  page: {
    title: (host: string) => `Import from ${host}`,
    lead: ({ source_org: org, created_by: by }: Import) =>
      `Organisation ${org}, started by ${by?.name ?? importTexts.unknownPerson}.`,
    what: 'The import',
    start: 'Start import',
    pause: 'Pause',
    resume: 'Continue',
    stop: 'Stop',
    stopTitle: 'Stop this import?',
    stopText: 'Everything that came stays. A new import of the same source continues there.',
    failed: 'Could not change the import.',
    again: 'Import again',
    stopped: 'Stopped. Everything that came is here. A new import of the same source continues there.',
  },

  steps: {
    label: 'Steps',
    source: 'Source',
    sourceDone: (projects: number) =>
      `token read, ${formatCount(projects)} ${projects === 1 ? 'project' : 'projects'} found`,
    mapping: 'Mapping',
    mappingNow: 'choose what becomes of each project',
    mappingDone: (taken: number, left: number) =>
      `${formatCount(taken)} ${taken === 1 ? 'project' : 'projects'} taken${left === 0 ? '' : `, ${formatCount(left)} left out`}`,
    import: 'Import',
    importNext: 'not started',
    report: 'Report',
    differences: (count: number) => (count === 0 ? 'everything mapped so far' : `${formatCount(count)} did not map`),
    percent: (share: number) => `${Math.floor(share * 100)} %`,
  },

  progress: {
    title: 'Progress',
    columns: { kind: 'Kind', done: 'Done', note: 'Note' },
    kinds: {
      projects: 'Projects',
      members: 'Members',
      releases: 'Releases',
      rules: 'Alert rules',
      issues: 'Issues',
      comments: 'Comments',
      events: 'Events',
    },
    notes: {
      projects: 'with their DSN keys',
      members: 'invited without a mail',
      releases: 'with their commits',
      rules: 'all are off',
      issues: 'status, assignee, counts',
      comments: 'with their authors',
      events: 'newest 3 of each issue, old times kept',
    },
    of: (total: number) => ` of ${formatCount(total)}`,
    resumes: 'After a stop it continues where it was.',
    now: (what: string) => `Now: ${what}`,
  },

  mapping: {
    title: 'Mapping',
    table: 'Projects of the source',
    fixed: 'fixed once it runs',
    columns: { take: 'Take', there: 'There', here: 'Here', platform: 'Platform', key: 'Keep DSN key' },
    take: (slug: string) => `Take ${slug}`,
    here: (slug: string) => `Project for ${slug}`,
    newProject: (slug: string) => `New: ${slug}`,
    platform: (slug: string) => `Platform of ${slug}`,
    keep: (slug: string) => `Keep the DSN key of ${slug}`,
    keeps: 'keeps its DSN key',
    newKey: 'new DSN key',
    leftOut: 'left out',
    foot: (projects: number, count: number | null) =>
      `${formatCount(projects)} ${projects === 1 ? 'project' : 'projects'}${count === null ? '' : `, ${issues(count)}`}`,
  },

  token: { label: 'New token', submit: 'Use this token', hint: 'The import continues with it.' },

  report: {
    title: 'What did not map',
    table: 'Differences',
    lead: 'nothing is dropped without a line here',
    none: 'Everything mapped',
    noneText: 'There is no difference so far.',
    columns: { kind: 'Kind', count: 'Count', why: 'Why', instead: 'What happened instead', examples: 'For example' },
    kinds: {
      projects: 'Projects',
      keys: 'DSN keys',
      members: 'Members',
      releases: 'Releases',
      rules: 'Alert rules',
      issues: 'Issues',
      assignees: 'Assignees',
      comments: 'Comments',
      events: 'Events',
    } as Readonly<Record<string, string>>,
  },
} as const
