/**
 * The layers of `web/` in order: a line may import only from lines above it, types included. `oxlint.config.ts` turns
 * both lists into lint rules; `test/conventions/boundaries.test.ts` checks that every folder is in them.
 */
export const webLayers = [
  // Parts that know no page, no router and no data.
  'ui',
  // Search parameters of addresses, and every link.
  'address',
  // Calls of the API and their cached responses.
  'api',
  // Things that every page knows: its texts, keys, permissions, preferences, project and title.
  'app',
  // Parts of forms.
  'forms',
  // Frames of pages and of their states.
  'frames',
  // Parts that several features show of one subject, such as issues, members or alerts.
  'subjects',
  'features',
  // The frame around every page.
  'shell',
  'routes.tsx',
  'main.tsx',
] as const

/**
 * The features: folders of `web/features/`, in the districts that have the names of the server's. None imports another:
 * what two of them need is in a layer before them.
 */
export const webFeatures = [
  'alerts',
  'assistant/ask',
  'assistant/query',
  'assistant/state',
  'history/audit',
  'identity/accounts',
  'identity/api-keys',
  'identity/members',
  'identity/organisation',
  'identity/personal',
  'identity/sso',
  'ingest/intake',
  'insights/metrics',
  'insights/overview',
  'insights/releases',
  'integrations/connections',
  'integrations/imports',
  'integrations/webhooks',
  'issues/feedback',
  'issues/inbox',
  'issues/list',
  'issues/page',
  'projects/onboarding',
  'projects/settings',
  'service/operator',
  'symbols/files',
  'telemetry/logs',
  'telemetry/monitors',
  'telemetry/performance',
  'telemetry/trace',
] as const
