import { ApiError, call, errorFrom } from './call.ts'
import { apiTexts } from './texts.ts'

/**
 * Sends a form with a file and tells how much of it has left. A request of its own kind, because `fetch` does not tell.
 * @param onProgress called with a share from 0 to 1
 * @throws ApiError
 */
export async function uploadForm(address: string, form: FormData, onProgress: (share: number) => void): Promise<void> {
  // An upload may take longer than the access token lives: one that is about to end is renewed first.
  await call('GET /api/me')
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const request = new XMLHttpRequest()
  request.open('POST', address)
  request.upload.onprogress = ({ loaded, total }) => onProgress(total === 0 ? 0 : loaded / total)
  request.onload = () => {
    if (request.status < 300) return resolve()
    const headers = { 'x-request-id': request.getResponseHeader('x-request-id') ?? '' }
    const response = new Response(request.responseText, { status: request.status, headers })
    errorFrom(response).then(reject, reject)
  }
  request.onerror = () => reject(new ApiError(0, apiTexts.unreachable))
  request.send(form)
  return promise
}
