/** How messages of users of apps stand in the inbox of feedback. */
export const FEEDBACK_STATUSES = ['open', 'resolved', 'spam'] as const

/** Lists of the inbox. */
export const FEEDBACK_VIEWS = ['inbox', 'mine', 'resolved', 'spam', 'all'] as const
