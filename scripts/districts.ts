/**
 * The districts of `server/` and the rooms of each, in dependency order: a room imports only from rooms above it in its
 * district and from districts above its own, types included. `oxlint.config.ts` turns the list into lint rules,
 * `scripts/check-districts.ts` counts the arrows and public files between districts.
 */
export const serverDistricts = [
  {
    name: 'platform',
    purpose: 'what any service needs',
    rooms: [
      'kernel',
      'storage',
      'embedded-postgres',
      'context',
      'live',
      'egress',
      'objects',
      'jobs',
      'blobs',
      'outbox',
      'mails',
      'requests',
    ],
  },
  {
    name: 'history',
    purpose: 'what a change did, and the proof of it',
    rooms: ['facts', 'audit'],
  },
  {
    name: 'identity',
    purpose: 'who may sign in, and as whom',
    rooms: [
      'api-keys',
      'auth',
      'two-factor',
      'passkeys',
      'external-identity',
      'accounts',
      'team',
      'contract.api.ts',
      'handlers.ts',
    ],
  },
  {
    name: 'projects',
    purpose: 'projects, their keys and releases',
    rooms: ['registry', 'releases'],
  },
  {
    name: 'events',
    purpose: 'from a wire format to a stored, readable event',
    rooms: ['protocol', 'items', 'store', 'attachments'],
  },
  {
    name: 'telemetry',
    purpose: 'what apps send besides errors, counted',
    rooms: [
      'sketch',
      'app-health',
      'performance',
      'journeys',
      'precursors',
      'logs',
      'monitors',
      'traces',
      'contract.api.ts',
      'handlers.ts',
    ],
  },
  {
    name: 'symbols',
    purpose: 'readable frames of minified, obfuscated and compiled code',
    rooms: [
      'index-file',
      'source-maps',
      'proguard',
      'dart',
      'names',
      'native',
      'files',
      'indexing',
      'uploads',
      'upload-protocol',
      'upload-command',
      'symbolication',
      'tasks.ts',
      'contract.api.ts',
      'handlers.ts',
    ],
  },
  {
    name: 'issues',
    purpose: 'errors grouped, searched and worked on',
    rooms: [
      'grouping',
      'rules',
      'rows',
      'search',
      'feedback',
      'inbox',
      'issue-events',
      'missing-symbols',
      'ownership',
      'merging',
      'recording',
      'triage',
      'bulk',
      'views',
      'contract.api.ts',
      'handlers.ts',
    ],
  },
  {
    name: 'ingest',
    purpose: 'from an SDK request to recorded facts',
    rooms: [
      'limits',
      'spool',
      'outcomes',
      'scrubbing',
      'filters',
      'intake',
      'digest',
      'contract.api.ts',
      'handlers.ts',
    ],
  },
  {
    name: 'insights',
    purpose: 'answers from issues and counts together',
    rooms: ['release-health', 'metrics', 'contract.api.ts', 'handlers.ts'],
  },
  {
    name: 'alerts',
    purpose: 'rules, fired alerts and notifications',
    rooms: [
      'notifications',
      'alert-mails',
      'rules',
      'actions',
      'monitors',
      'evaluation',
      'chat',
      'tasks.ts',
      'contract.api.ts',
      'handlers.ts',
    ],
  },
  {
    name: 'integrations',
    purpose: 'other systems that Faultline sends to and hears from',
    rooms: ['webhooks', 'code-host', 'trackers', 'contract.api.ts', 'handlers.ts'],
  },
  {
    name: 'assistant',
    purpose: 'questions answered from the data of the organisation',
    rooms: ['models', 'query', 'ask', 'analysis', 'mcp', 'contract.api.ts', 'handlers.ts'],
  },
  {
    name: 'service',
    purpose: 'the running whole',
    rooms: [
      'erasure',
      'project-settings',
      'project-deletion',
      'imports',
      'canary',
      'backup',
      'doctor',
      'digests',
      'operator',
      'http',
      'api',
      'tasks.ts',
      'channels.ts',
      'app.ts',
      'cli',
    ],
  },
] as const satisfies readonly District[]

export type District = {
  readonly name: string
  /** One line, also in `ARCHITECTURE.md`. */
  readonly purpose: string
  /** Folders, and files whose names end in `.ts`. */
  readonly rooms: readonly string[]
}

/** The folder and the file of `server/` that belong to no district: the first below all of them, the second above. */
export const serverFiles = { below: 'config', above: 'main.ts' } as const
