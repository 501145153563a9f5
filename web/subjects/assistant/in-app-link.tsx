import { useRouter } from '@tanstack/react-router'
import type { ComponentProps, MouseEvent } from 'react'

/** A link to a path of the dashboard that the server wrote. Any other address is only shown as its text. */
export function InAppLink({ path, children, ...rest }: InAppLinkProps) {
  const router = useRouter()
  if (path === null || !/^\/(?![/\\])/.test(path)) return <span>{children}</span>
  const onClick = (event: MouseEvent) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey) return
    event.preventDefault()
    router.history.push(path)
  }
  return (
    <a {...rest} href={path} onClick={onClick}>
      {children}
    </a>
  )
}

type InAppLinkProps = Omit<ComponentProps<'a'>, 'href' | 'onClick'> & { path: string | null }
