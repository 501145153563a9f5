/** Texts of uploads from builds. */
export const buildTexts = {
  title: 'From your build',
  lead: 'The tools that you use already upload to this address. The key needs the scopes uploads:write, releases:write, releases:read and projects:read.',
  environment: 'Environment',
  tool: 'Tool of the build',
  makeKey: 'Create an API key',
  copied: 'Copied',
} as const
