import { queryOptions } from '@tanstack/react-query'
import { call, type AnswerOf } from './call.ts'

export type TrackerView = AnswerOf<'GET /api/projects/:projectId/integrations/tracker'>
export type ConnectedTracker = AnswerOf<'POST /api/projects/:projectId/integrations/tracker'>
export type TrackerChoices = AnswerOf<'POST /api/projects/:projectId/integrations/tracker/choices'>

/** The connection of a project with a tracker. */
export const trackerQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['projects', projectId, 'tracker'],
    queryFn: ({ signal }) =>
      call('GET /api/projects/:projectId/integrations/tracker', { params: { projectId }, signal }),
    meta: { quiet: true },
  })
