import { Link } from '@tanstack/react-router'
import { CentredMain } from '../common/centred-main.tsx'
import { paths } from '../address/paths.ts'
import { buttonLook } from '../ui/button.tsx'
import { Icon } from '../ui/icon.tsx'
import { Toolbar } from '../ui/stack.tsx'
import { commonTexts } from '../common/texts.ts'
import { shellTexts } from './texts.ts'
import { usePageTitle } from '../common/page-title.ts'

/** The page for addresses that do not exist. */
export function NotFound() {
  usePageTitle(null)
  return (
    <CentredMain>
      <title>{commonTexts.titleOf(shellTexts.notFound)}</title>
      <div className="empty">
        <Icon name="search" className="big c-3" />
        <h1>{shellTexts.notFound}</h1>
        <p>{shellTexts.notFoundMore}</p>
        <Toolbar>
          <Link {...paths.issues()} {...buttonLook({ look: 'primary' })}>
            <span>{shellTexts.goToIssues}</span>
          </Link>
        </Toolbar>
      </div>
    </CentredMain>
  )
}
