import { Link } from '@tanstack/react-router'
import { CentredMain } from '../common/centred-main.tsx'
import { paths } from '../address/paths.ts'
import { buttonClass } from '../ui/button.tsx'
import { Icon } from '../ui/icon.tsx'
import { shared } from '../common/texts.ts'
import { shell } from './texts.ts'
import { usePageTitle } from '../common/page-title.ts'

/** No such page, or no such thing in this organisation. */
export function NotFound() {
  usePageTitle(null)
  return (
    <CentredMain>
      <title>{shared.titleOf(shell.notFound)}</title>
      <div className="empty">
        <Icon name="search" className="big c-3" />
        <h1>{shell.notFound}</h1>
        <p>{shell.notFoundMore}</p>
        <span className="rowk">
          <Link {...paths.issues()} className={buttonClass('primary')}>
            <span>{shell.goToIssues}</span>
          </Link>
        </span>
      </div>
    </CentredMain>
  )
}
