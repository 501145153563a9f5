import { useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'

/** Leaves for the page after a sign-in, and drops the data of an earlier session. */
export function useEnter(next: string | undefined): () => void {
  const router = useRouter()
  const client = useQueryClient()
  return () => {
    client.clear()
    router.history.push(next ?? '/')
  }
}
