import type { Cookies } from '../../platform/context/handlers.ts'
import { ACCESS_LIFE_SECONDS } from './access-token.ts'
import type { SessionTokens } from './start-session.ts'

export const ACCESS_COOKIE = 'svc_access'
export const REFRESH_COOKIE = 'svc_refresh'

const ACCESS_PATH = '/'
/** Browsers send the refresh token only to the routes below this path. */
const REFRESH_PATH = '/api/auth'

/** The HTTP side adds HttpOnly and Secure. */
export function setSessionCookies(cookies: Cookies, tokens: SessionTokens): void {
  cookies.set(ACCESS_COOKIE, tokens.accessToken, {
    path: ACCESS_PATH,
    sameSite: 'lax',
    maxAgeSeconds: ACCESS_LIFE_SECONDS,
  })
  cookies.set(REFRESH_COOKIE, tokens.refreshToken, {
    path: REFRESH_PATH,
    sameSite: 'strict',
    maxAgeSeconds: tokens.refreshLifeSeconds,
  })
}

export function clearSessionCookies(cookies: Cookies): void {
  cookies.clear(ACCESS_COOKIE, ACCESS_PATH)
  cookies.clear(REFRESH_COOKIE, REFRESH_PATH)
}
