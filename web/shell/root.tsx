import { Outlet } from '@tanstack/react-router'
import { Sprite } from '../ui/icon.tsx'
import { Toasts } from '../ui/toasts.tsx'
import styles from './root.module.css'

/** The root of all pages, with and without a session. */
export function Root() {
  return (
    <>
      <Sprite />
      <Outlet />
      <Toasts className={styles.toasts} />
    </>
  )
}
