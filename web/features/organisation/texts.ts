/** Texts of the frame of the organisation's settings. */
export const organisationTexts = {
  frame: 'Organisation settings',
  heading: 'Organisation',
  webhooks: 'Webhooks',
  audit: 'Audit log',
} as const
