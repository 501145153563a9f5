import type { SessionEndReason } from '../../../address/search.ts'
import type { SignInError } from '#shared/sign-in-errors.ts'

/** Texts of the pages without a session: log in, sign up, and the pages of mailed links. */
export const accountsTexts = {
  logIn: 'Log in',
  to: (host: string) => `to ${host}`,
  email: 'E-mail',
  password: 'Password',
  forgot: 'Forgot password?',
  or: 'or',
  back: 'Back',
  withPasskey: 'Continue with a passkey',
  withSso: 'Continue with single sign-on',
  withProvider: { github: 'Continue with GitHub', google: 'Continue with Google' },
  noAccount: 'No account yet?',
  createOrg: 'Create an organisation',
  createOrgMore: 'You will be its owner and can invite others.',
  create: 'Create organisation',
  signupClosed: {
    invite: 'New accounts are by invitation here. Ask a member of your organisation for one.',
    closed: 'This installation accepts no new accounts.',
  },
  yourName: 'Your name',
  organisation: 'Organisation',
  haveAccount: 'Already have an account?',
  possibleIn: (left: string) => ` Try again in ${left}.`,
  motto: 'Find the line where it broke.',
  mottoMore: 'Crashes, hangs and slow starts, traced to the release that caused them.',
  missing: {
    name: 'Enter your name.',
    org: 'Enter a name for the organisation.',
    email: 'Enter your e-mail address.',
    password: 'Enter your password.',
  },

  code: {
    title: { app: 'Enter your code', backup: 'Enter a backup code' },
    lead: {
      app: '6 digits from your authenticator app',
      backup: 'One of the codes you stored when you turned on two-step log-in. Each works once.',
    },
    leadFor: {
      app: (email: string) => `6 digits from your authenticator app, for ${email}`,
      backup: (email: string) => `One of the codes you stored for ${email}. Each works once.`,
    },
    label: { app: 'Code', backup: 'Backup code' },
    missing: { app: 'Enter all 6 digits.', backup: 'Enter a backup code.' },
    other: { app: 'Use a backup code', backup: 'Use your authenticator app' },
    passkey: 'a passkey',
  },

  sso: {
    title: 'Single sign-on',
    lead: 'You continue at your organisation’s identity provider.',
    hint: 'Its short name, such as meadowlark.',
    missing: 'Enter the short name of your organisation.',
    submit: 'Continue',
  },

  link: {
    title: 'Link your account',
    lead: 'You already have an account here. Enter its password once: after that, single sign-on is enough.',
    submit: 'Link and log in',
    linked: 'The account is linked. You can log in with it from now on.',
    notLinked: 'You are logged in, but the account was not linked.',
  },

  forgotPage: {
    title: 'Reset your password',
    lead: 'We will send a link to your e-mail address.',
    submit: 'Send link',
    again: 'Send again',
    sent: 'If this address has an account, a link is on its way. It works once, for one hour.',
  },

  resetPage: {
    title: 'Choose a new password',
    lead: 'All your sessions are logged out.',
    password: 'New password',
    submit: 'Set password',
    spentTitle: 'This link no longer works',
    spent: 'A link works once, for one hour, and only the newest one.',
    newLink: 'Get a new link',
  },

  invitePage: {
    title: 'Invitation',
    join: (org: string) => `Join ${org}`,
    lead: (inviter: string, email: string, role: string) => `${inviter} invited ${email} ${role}.`,
    leadAnonymous: (email: string, role: string) => `${email} is invited ${role}.`,
    ends: (day: string) => `The invitation ends on ${day}.`,
    roles: { owner: 'as an owner', admin: 'as an admin', member: 'as a member', viewer: 'as a viewer' },
    choosePassword: 'Choose a password',
    yourPassword: 'Your Faultline password',
    submit: 'Join',
    otherWay: 'No password?',
    logInFirst: 'Log in another way',
    loggedInAs: (email: string) => `You are logged in as ${email}.`,
    otherUser: (email: string) => `You are logged in as ${email}. Log out to accept this invitation.`,
    logOut: 'Log out and continue',
    joined: (org: string) => `You joined ${org}`,
    spentTitle: 'This invitation no longer works',
    spent: 'It was used, withdrawn, or is older than 7 days. Ask the person who invited you for a new one.',
  },

  confirmEmailPage: {
    title: 'Confirm your e-mail address',
    lead: 'From now on you log in with this address.',
    submit: 'Confirm',
    doneTitle: 'E-mail address changed',
    done: 'Log in with the new address from now on.',
    spentTitle: 'This link no longer works',
    spent: 'A link works once, for one hour. Change the address again in your profile.',
    next: 'Continue to Faultline',
  },

  chatLinkPage: {
    title: 'Link your chat user',
    logInFirst: 'Log in to choose the account your chat user belongs to. The link is valid for 10 minutes.',
    lead: (user: string, team: string, email: string) =>
      `Buttons that ${user} presses in the chat of ${team} will then act as your account ${email}. Link it only if ${user} is you.`,
    submit: 'Link',
    doneTitle: 'Chat user linked',
    done: (user: string) => `${user} acts as you from now on. Go back to the chat and press the button again.`,
    next: 'Show linked chat users',
    spentTitle: 'This link no longer works',
    spent: 'A link works once, for 10 minutes, and only the newest one. Press a button in the chat again to get one.',
  },

  unsubscribePage: {
    title: 'Unsubscribe',
    lead: 'Choose which alert e-mails to stop.',
    rule: 'Stop e-mails from this alert rule',
    all: 'Stop all alert e-mails',
    undo: 'Undo',
    digest: {
      lead: 'Stop the weekly digest of this organisation.',
      stop: 'Stop the weekly digest',
      done: {
        rule: 'You will no longer get the weekly digest.',
        all: 'You will no longer get the weekly digest.',
        none: 'You will get the weekly digest again.',
      },
    },
    doneTitles: { rule: 'Unsubscribed', all: 'Unsubscribed', none: 'Subscribed again' },
    done: {
      rule: (rule: string | null) =>
        rule === null
          ? 'The alert rule was deleted and sends no e-mails.'
          : `You will no longer get e-mails from “${rule}”.`,
      all: () => 'You will no longer get alert e-mails from this organisation.',
      none: () => 'You will get alert e-mails again.',
    },
    spentTitle: 'This link does not work',
    spent: 'Open the full link from the e-mail. It ends in a long token.',
  },

  ended: {
    theft: 'Your session was ended because an old token was used. Log in again.',
    password: 'Your session was ended because your password was changed. Log in again.',
    two_factor: 'Your session was ended because two-step log-in was changed. Log in again.',
    elsewhere: 'Your session was ended from another device. Log in again.',
    many: 'Your session was ended because you logged in on more than 20 others. Log in again.',
    membership: 'Your session was ended because your role or membership changed. Log in again.',
    account: 'Your session was ended because your account changed. Log in again.',
  } satisfies Record<SessionEndReason, string>,

  done: {
    reset: 'Your password is set. Log in with it.',
    deleted: 'Your account was deleted.',
  },

  errors: {
    sso_unavailable:
      'Single sign-on is not available for this organisation. Check its short name, or log in another way.',
    sso_expired: 'The sign-in took too long or was opened in another browser. Start again.',
    sso_denied: 'Your identity provider did not let you in. Ask your administrator for access.',
    sso_failed: 'Your identity provider did not answer as expected. Try again, or log in another way.',
    sso_not_allowed: 'Your identity provider knows you, but you are not a member here. Ask for an invitation.',
    sso_required: 'Your organisation requires single sign-on. Continue with it.',
    oauth_unavailable: 'This way to log in is turned off. Choose another one.',
    oauth_expired: 'The sign-in took too long or was opened in another browser. Start again.',
    oauth_denied: 'The sign-in was cancelled. Try again, or log in another way.',
    oauth_failed: 'The provider did not answer as expected. Try again, or log in another way.',
    not_linked: 'This account is not linked to a Faultline user yet. Log in with your password once to link it.',
    linked_elsewhere: 'This account is already linked to another Faultline user.',
    not_allowed: 'Your account is not active in any organisation. Ask an owner.',
    login_required: 'Log in first, then link the account.',
    login_too_old: 'Log in again, then link the account.',
  } satisfies Record<SignInError, string>,
} as const
