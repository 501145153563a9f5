/** Texts of the frame of the organisation's settings. */
export const organisationTexts = {
  frame: 'Organisation settings',
  heading: 'Organisation',
  general: 'General',
  generalPage: {
    lead: 'How the organisation is called.',
    readOnly: 'You can view these settings. Only the admin role can change them.',
    identity: 'Organisation',
    name: 'Name',
    nameHint: 'Shown in the dashboard and in mails.',
    nameMissing: 'Enter a name.',
    slug: 'Short name',
    slugHint: 'Cannot be changed. Log-in links and upload tools use it.',
    saved: 'Organisation saved',
  },
  members: 'Members',
  sso: 'Single sign-on',
  webhooks: 'Webhooks',
  apiKeys: 'API keys',
  import: 'Import',
  assistant: 'Assistant',
  audit: 'Audit log',
} as const
