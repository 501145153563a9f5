import { queryOptions } from '@tanstack/react-query'
import { call, type AnswerOf } from './call.ts'

export type SsoConfig = AnswerOf<'GET /api/auth/sso/config'>
export type SsoDomain = SsoConfig['domains'][number]

export const ssoConfigQuery = queryOptions({
  queryKey: ['sso'],
  queryFn: ({ signal }) => call('GET /api/auth/sso/config', { signal }),
  meta: { quiet: true },
})
