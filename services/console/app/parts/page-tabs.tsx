import { Link } from '@tanstack/react-router'
import classes from './page-tabs.module.css'

interface PageTabsProps {
  label: string
  pages: readonly { to: '/audit' | '/audit/proofs' | '/system' | '/system/keys'; text: string }[]
}

/** Leads between the pages of an area. They look like the tabs of a page. */
export const PageTabs = ({ label, pages }: PageTabsProps) => (
  <nav className={classes.tabs} aria-label={label}>
    {pages.map(({ to, text }) => (
      <Link
        key={to}
        to={to}
        activeOptions={{ exact: true, includeSearch: false }}
        activeProps={{ 'aria-current': 'page' }}
        className={classes.tab}
      >
        {text}
      </Link>
    ))}
  </nav>
)
