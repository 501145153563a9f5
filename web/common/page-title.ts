import { useLocation } from '@tanstack/react-router'
import { useEffect } from 'react'
import { addRecent } from './recents.ts'
import { commonTexts } from './texts.ts'

/** Sets the title of the browser's tab and adds the page to the recent pages of the palette. */
export function usePageTitle(title: string | null): void {
  const { href } = useLocation()
  useEffect(() => {
    if (title === null) return
    document.title = commonTexts.titleOf(title)
    addRecent({ href, title })
  }, [href, title])
}
