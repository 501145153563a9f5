/**
 * Why a browser came back to the dashboard without a session: the values of `error` in `/login?error=…`, and in
 * `/me/security?error=…` after an attempt to link an account. The log of the service has the details.
 */
export const SIGN_IN_ERRORS = [
  /** No such organisation, or it has no single sign-on, or its provider cannot be reached. */
  'sso_unavailable',
  /** The attempt is unknown, older than 10 minutes, already used, or was started in another browser. */
  'sso_expired',
  /** The provider says that the user refused, or may not sign in. */
  'sso_denied',
  /** The provider's answer is wrong or did not come. */
  'sso_failed',
  /** The provider knows the user, but nothing here allows them in: no member, disabled, no verified address. */
  'sso_not_allowed',
  /** The user's organisation lets its members in by single sign-on only. */
  'sso_required',
  /** GitHub or Google is not switched on. */
  'oauth_unavailable',
  'oauth_expired',
  'oauth_denied',
  'oauth_failed',
  /** No user has linked this account. Log in with the password, then link it. */
  'not_linked',
  /** The account there is linked to another user. */
  'linked_elsewhere',
  /** The user's account or every membership is disabled, or there is none. */
  'not_allowed',
  /** Linking needs a session. */
  'login_required',
  /** Linking needs a log-in of the last 15 minutes. */
  'login_too_old',
] as const
export type SignInError = (typeof SIGN_IN_ERRORS)[number]
