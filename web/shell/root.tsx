import { Outlet } from '@tanstack/react-router'
import { Sprite } from '../ui/icon.tsx'
import { Toasts } from '../ui/toasts.tsx'

/** What stands around everything, with a session or without. */
export function Root() {
  return (
    <>
      <Sprite />
      <Outlet />
      <Toasts />
    </>
  )
}
