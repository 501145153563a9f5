import { queryOptions } from '@tanstack/react-query'
import { ApiError, call, type AnswerOf } from './call.ts'

/** Queries about the account of the logged-in user: sessions, devices, ways to sign in. */

export type OwnSession = AnswerOf<'GET /api/auth/sessions'>['items'][number]
export type OwnDevice = AnswerOf<'GET /api/auth/devices'>['items'][number]
export type Passkey = AnswerOf<'GET /api/auth/passkeys'>['items'][number]
export type LinkedAccount = AnswerOf<'GET /api/auth/oauth'>['items'][number]
export type ChatLink = AnswerOf<'GET /api/me/chat-links'>['items'][number]
export type MutedRule = AnswerOf<'GET /api/me/muted-alert-rules'>['items'][number]

/** The ways to sign in that the log-in page offers. */
export const methodsQuery = queryOptions({
  queryKey: ['sign-in-methods'],
  queryFn: ({ signal }) => call('GET /api/auth/methods', { signal }),
  staleTime: 60_000,
})

/** The user of this browser, or null: for pages that work without a session. */
export const visitorQuery = queryOptions({
  queryKey: ['visitor'],
  queryFn: async ({ signal }) => {
    try {
      return await call('GET /api/me', { signal, sessionOptional: true })
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) return null
      throw error
    }
  },
})

export const sessionsQuery = queryOptions({
  queryKey: ['account', 'sessions'],
  queryFn: ({ signal }) => call('GET /api/auth/sessions', { signal }),
})

export const devicesQuery = queryOptions({
  queryKey: ['account', 'devices'],
  queryFn: ({ signal }) => call('GET /api/auth/devices', { signal }),
})

export const twoFactorQuery = queryOptions({
  queryKey: ['account', 'two-factor'],
  queryFn: ({ signal }) => call('GET /api/auth/2fa', { signal }),
})

export const passkeysQuery = queryOptions({
  queryKey: ['account', 'passkeys'],
  queryFn: ({ signal }) => call('GET /api/auth/passkeys', { signal }),
})

export const linkedAccountsQuery = queryOptions({
  queryKey: ['account', 'linked'],
  queryFn: ({ signal }) => call('GET /api/auth/oauth', { signal }),
})

export const chatLinksQuery = queryOptions({
  queryKey: ['account', 'chat-links'],
  queryFn: ({ signal }) => call('GET /api/me/chat-links', { signal }),
})

export const mutedRulesQuery = queryOptions({
  queryKey: ['account', 'muted-rules'],
  queryFn: ({ signal }) => call('GET /api/me/muted-alert-rules', { signal }),
})
