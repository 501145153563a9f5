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
  // What several features, or a feature and the shell, use.
  'common',
  'features',
  // The frame around every page.
  'shell',
  'routes.tsx',
  'main.tsx',
] as const

/** The folders of `web/features/`. None imports another: what two of them need is in `common/`. */
export const webFeatures = [
  'accounts',
  'alerts',
  'api-keys',
  'audit',
  'inbox',
  'intake',
  'issue',
  'issues',
  'members',
  'metrics',
  'onboarding',
  'organisation',
  'performance',
  'personal',
  'releases',
  'settings',
  'sso',
  'trace',
  'webhooks',
] as const
