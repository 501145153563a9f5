/** Texts of the frame of the organisation's settings. */
export const organisationTexts = {
  frame: 'Organisation settings',
  heading: 'Organisation',
  members: 'Members',
  sso: 'Single sign-on',
  webhooks: 'Webhooks',
  apiKeys: 'API keys',
  import: 'Import',
  assistant: 'Assistant',
  audit: 'Audit log',
} as const
