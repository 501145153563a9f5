import { queryOptions } from '@tanstack/react-query'
import { call, type AnswerOf } from './call.ts'

export type CodeHost = AnswerOf<'GET /api/projects/:projectId/integrations/codehost'>

export const codeHostQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['projects', projectId, 'codehost'],
    queryFn: ({ signal }) =>
      call('GET /api/projects/:projectId/integrations/codehost', { params: { projectId }, signal }),
  })
