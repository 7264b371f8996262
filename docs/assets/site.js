// What the theme leaves out for people who use a keyboard or a screen reader.
(() => {
    const SCROLLING = ".md-typeset__scrollwrap, .md-typeset p.formula, .md-typeset p:has(> img)";
    const complete = () => {
        // What scrolls can be reached by Tab, and moved by the arrows.
        for (const part of document.querySelectorAll(SCROLLING)) {
            if (part.scrollWidth > part.clientWidth) {
                part.tabIndex = 0;
            } else {
                part.removeAttribute("tabindex");
            }
        }
        // The contents of a page are one landmark, not one for each of its headings, and a button
        // to copy code is none.
        for (const part of document.querySelectorAll(".md-nav--secondary .md-nav")) {
            part.role = "none";
            part.removeAttribute("aria-label");
        }
        for (const buttons of document.querySelectorAll(".md-code__nav")) {
            buttons.role = "none";
        }
        document.querySelector(".md-path")?.setAttribute("aria-label", "Path");
    };
    const start = () => {
        complete();
        // The theme wraps tables and adds buttons to code later.
        new MutationObserver(complete).observe(document.body, { childList: true, subtree: true });
        addEventListener("resize", complete);
    };
    if (document.readyState === "loading") {
        document.addEventListener("DOMContentLoaded", start);
    } else {
        start();
    }
})();
