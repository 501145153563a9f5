import { useState } from 'react'
import { useLinkToken } from './link-token.ts'

const KEY = 'faultline-chat-link'

/** The token of the link in the chat. It outlasts a log-in, which may lead to another site and back. */
export function useChatToken(): string | null {
  const opened = useLinkToken()
  const [kept] = useState(() => {
    if (opened !== null) keep(opened)
    return opened ?? read()
  })
  return kept
}

export function forgetChatToken(): void {
  try {
    sessionStorage.removeItem(KEY)
  } catch {
    // Without storage nothing was kept.
  }
}

function keep(token: string): void {
  try {
    sessionStorage.setItem(KEY, token)
  } catch {
    // Without storage, the user opens the link again after the log-in.
  }
}

function read(): string | null {
  try {
    return sessionStorage.getItem(KEY)
  } catch {
    return null
  }
}
