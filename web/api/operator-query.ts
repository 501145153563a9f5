import { queryOptions } from '@tanstack/react-query'
import { call, type AnswerOf } from './call.ts'

export type OperatorStatus = AnswerOf<'GET /api/operator/status'>

/** The status of the installation, for who operates it; 404 for everyone else. */
export const operatorQuery = queryOptions({
  queryKey: ['operator'],
  queryFn: ({ signal }) => call('GET /api/operator/status', { signal }),
  meta: { quiet: true },
})
