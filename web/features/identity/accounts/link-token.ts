import { useLocation } from '@tanstack/react-router'
import { ApiError } from '../../../api/call.ts'

/** The one-time token of the mailed link; null when the page was opened without one. */
export const useLinkToken = (): string | null => useLocation({ select: ({ state }) => state.linkToken ?? null })

/** Whether the service refused the link, not what was entered. Unknown, used and old links have the same answer. */
export const isAboutLink = (error: Error): boolean =>
  error instanceof ApiError && error.status === 400 && !/^(?:password|name)\b/i.test(error.message)
