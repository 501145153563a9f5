import { Link } from '@tanstack/react-router'
import { CentredMain } from '../frames/centred-main.tsx'
import { paths } from '../address/paths.ts'
import { buttonLook } from '../ui/button.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { appTexts } from '../app/texts.ts'
import { notFoundTexts as texts } from './not-found-texts.ts'
import { shellTexts } from './texts.ts'
import { usePageTitle } from '../app/page-title.ts'

/** The page for addresses that do not exist. */
export function NotFound() {
  usePageTitle(null)
  return (
    <CentredMain>
      <title>{appTexts.titleOf(texts.title)}</title>
      <EmptyState
        kind="missing"
        heading="h1"
        title={texts.title}
        actions={
          <Link {...paths.issues()} {...buttonLook({ look: 'primary' })}>
            <span>{shellTexts.goToIssues}</span>
          </Link>
        }
      >
        {texts.more}
      </EmptyState>
    </CentredMain>
  )
}
