import { AlertMessage } from '../rules/alert-message.ts'

/** The message of a delivery. Null when it cannot be read: another version wrote it. */
export function readMessage(body: Buffer): AlertMessage | null {
  try {
    return AlertMessage.parse(JSON.parse(body.toString()))
  } catch {
    return null
  }
}
