/** A group of the contents list: whom its pages are for. */
export type GuideGroup = {
  readonly title: string
  readonly about: string
  /** Names of pages: `docs/<name>.md`, in the order of reading. */
  readonly pages: readonly string[]
}

/** The pages of the guide. A test holds that each page of `docs/` is in one group, and once. */
export const GUIDE_GROUPS: readonly GuideGroup[] = [
  {
    title: 'For users',
    about: 'Connect an app, and work with what it reports.',
    pages: [
      'platforms',
      'issues',
      'search',
      'grouping',
      'symbols',
      'native-crashes',
      'releases',
      'feedback',
      'performance-monitoring',
      'metrics',
      'traces',
      'logs',
      'monitors',
      'check-ins-and-otlp',
      'security-reports',
      'alerts',
      'alerts-triggers',
      'alert-actions',
      'notifications',
      'ownership',
      'code-host',
      'trackers',
      'chat',
      'assistant',
      'filters',
      'accounts',
      'two-factor-and-passkeys',
      'team',
    ],
  },
  {
    title: 'For operators',
    about: 'Install, run and protect an installation.',
    pages: [
      'operating',
      'install',
      'running',
      'operator-commands',
      'watching',
      'scaling',
      'backup',
      'migrating',
      'import',
      'mails',
      'egress',
      'single-sign-on',
      'audit-log',
      'privacy',
      'security',
      'ingestion',
      'performance',
      'reliability',
      'demo',
    ],
  },
  {
    title: 'For developers',
    about: 'Call the API, receive webhooks, send events.',
    pages: ['api', 'api-keys', 'webhooks', 'permissions', 'protocol', 'compatibility', 'dependencies', 'glossary'],
  },
]
