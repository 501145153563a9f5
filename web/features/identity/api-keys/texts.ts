/** Texts of the page of API keys. */
export const apiKeysTexts = {
  title: 'API keys',
  lead: 'A key acts as you in this organisation, within its scopes.',
  what: 'API keys',
  create: 'Create key',
  full: 'You can have up to 50 keys. Revoke one first.',

  fresh: {
    title: (name: string) => `Copy “${name}” now. It is not shown again.`,
    label: 'API key',
    lost: 'The key is not shown again. Without it you would have to create another one.',
    scopes: 'Scopes',
    sentAs: 'Send it as',
  },

  columns: {
    name: 'Name',
    prefix: 'Starts with',
    scopes: 'Scopes',
    used: 'Last used',
    expires: 'Expires',
    created: 'Created',
    actions: 'Actions',
  },
  never: 'never',
  noEnd: 'never',
  expired: 'Expired',
  unused: (age: string) => `${age}, consider revoking`,
  revoke: 'Revoke',
  revokeOf: (name: string) => `Revoke ${name}`,

  none: 'No API keys yet',
  noneText: 'Scripts and CI use a key instead of your password. Give each its own, with only the scopes it needs.',

  dialog: {
    title: 'Create an API key',
    name: 'Name',
    nameHint: 'What uses it, such as “Release upload”.',
    nameMissing: 'Enter a name.',
    scopes: 'Scopes',
    presets: 'Presets',
    presetNames: { read: 'Read only', uploads: 'Uploads from CI', triage: 'Triage of issues', all: 'Everything' },
    scopesHint: 'Only what the script needs. A key can never do more than your role allows.',
    scopesMissing: 'Choose at least one scope.',
    expires: 'Expires',
    expiries: { '30': 'in 30 days', '90': 'in 90 days', '365': 'in a year', never: 'never' },
    submit: 'Create key',
  },

  revocation: {
    title: (name: string) => `Revoke ${name}?`,
    text: 'Anything that uses it stops working immediately. This cannot be undone.',
    submit: 'Revoke',
    done: (name: string) => `${name} is revoked`,
    failed: 'Could not revoke the key.',
  },
} as const
