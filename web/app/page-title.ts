import { useLocation } from '@tanstack/react-router'
import { useEffect } from 'react'
import { addRecent } from './recents.ts'
import { appTexts } from './texts.ts'

let shownTitle: string | null = null
let titleCount = 0

function writeTitle(): void {
  if (shownTitle !== null) document.title = appTexts.countedTitle(titleCount, appTexts.titleOf(shownTitle))
}

/** Puts a number before the title, such as of firing alerts; 0 for none. */
export function setTitleCount(count: number): void {
  titleCount = count
  writeTitle()
}

/** Sets the title of the browser's tab and adds the page to the recent pages of the palette. */
export function usePageTitle(title: string | null): void {
  const { href } = useLocation()
  useEffect(() => {
    if (title === null) return
    shownTitle = title
    writeTitle()
    addRecent({ href, title })
  }, [href, title])
}
