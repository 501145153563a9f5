import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { Range } from '../address/search.ts'
import { call, type AnswerOf } from './call.ts'

export type Intake = AnswerOf<'GET /api/projects/:projectId/intake'>

export const intakeQuery = (projectId: string, range: Range) =>
  queryOptions({
    queryKey: ['intake', projectId, range],
    queryFn: ({ signal }) =>
      call('GET /api/projects/:projectId/intake', { params: { projectId }, query: { range }, signal }),
    placeholderData: keepPreviousData,
  })
