/**
 * The folders and files of `server/` in dependency order: a line may import only from lines above it.
 * `oxlint.config.ts` turns the list into lint rules; `test/conventions/` checks that every folder is in it.
 */
export const serverFolders = [
  'config.ts',
  'kernel',
  'storage',
  'context',
  'live',
  'egress',
  'jobs',
  'outbox',
  'audit',
  'auth',
  'team',
  'spool',
  'events',
  'protocol',
  'symbolication',
  'grouping',
  'issues',
  'metrics',
  'ingest',
  'integrations',
  'alerts',
  'assistant',
  'http',
  'worker',
  'app.ts',
  'cli',
  'main.ts',
] as const
