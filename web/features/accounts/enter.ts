import { useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'

/** Goes on after a sign-in, with nothing kept of an earlier session. */
export function useEnter(next: string | undefined): () => void {
  const router = useRouter()
  const client = useQueryClient()
  return () => {
    client.clear()
    router.history.push(next ?? '/')
  }
}
