import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import { call, type AnswerOf, type BodyOf } from './call.ts'

export type InboxMessage = AnswerOf<'GET /api/feedback'>['items'][number]
export type FeedbackDetail = AnswerOf<'GET /api/feedback/:feedbackId'>
export type FeedbackChange = BodyOf<'PATCH /api/feedback/:feedbackId'>
type FeedbackReply = BodyOf<'POST /api/feedback/:feedbackId/replies'>

export type InboxFilter = {
  readonly project?: string | undefined
  readonly view?: 'mine' | 'resolved' | 'spam' | 'all' | undefined
  readonly q?: string | undefined
  readonly issue?: string | undefined
}

/** Messages of a view of the inbox, newest first. */
export const inboxQuery = ({ project, view, q, issue }: InboxFilter) =>
  infiniteQueryOptions({
    queryKey: ['feedback', 'list', { project, view, q, issue }],
    queryFn: ({ pageParam, signal }) =>
      call('GET /api/feedback', {
        query: { limit: '50', view: view ?? 'inbox', projectId: project, issueId: issue, query: q, cursor: pageParam },
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor: next }) => next,
    placeholderData: keepPreviousData,
  })

export const messageQuery = (feedbackId: string) =>
  queryOptions({
    queryKey: ['feedback', 'one', feedbackId],
    queryFn: ({ signal }) => call('GET /api/feedback/:feedbackId', { params: { feedbackId }, signal }),
  })

export const changeFeedback = (feedbackId: string, body: FeedbackChange) =>
  call('PATCH /api/feedback/:feedbackId', { params: { feedbackId }, body })

export const addNote = (feedbackId: string, body: string) =>
  call('POST /api/feedback/:feedbackId/notes', { params: { feedbackId }, body: { body } })

export const sendReply = (feedbackId: string, body: FeedbackReply) =>
  call('POST /api/feedback/:feedbackId/replies', { params: { feedbackId }, body })
