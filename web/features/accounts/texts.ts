/** Texts of logging in and signing up. */
export const accountsTexts = {
  logIn: 'Log in',
  to: (host: string) => `to ${host}`,
  email: 'E-mail',
  password: 'Password',
  noAccount: 'No account yet?',
  createOrg: 'Create an organisation',
  createOrgMore: 'You will be its owner.',
  create: 'Create organisation',
  yourName: 'Your name',
  organisation: 'Organisation',
  haveAccount: 'Already have an account?',
  possibleIn: (left: string) => `Try again in ${left}.`,
  motto: 'Find the line where it broke.',
  mottoMore: 'Crashes, hangs and slow starts, traced to the release that caused them.',
  missing: {
    name: 'Enter your name.',
    org: 'Enter a name for the organisation.',
    email: 'Enter your e-mail address.',
    password: 'Enter your password.',
  },
} as const
