// Buttons that copy blocks of code; titles of columns and kinds of cells for the style of tables.
document.addEventListener("DOMContentLoaded", () => {
  for (const block of document.querySelectorAll("div.highlight")) {
    const button = document.createElement("button");
    button.className = "copy";
    button.textContent = "copy";
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(block.querySelector("pre").textContent);
      button.textContent = "copied";
      setTimeout(() => { button.textContent = "copy"; }, 1500);
    });
    block.append(button);
  }
  for (const word of document.querySelectorAll("code.literal .pre"))
    word.classList.toggle("long", word.textContent.length > 30);
  for (const table of document.querySelectorAll("table.docutils")) {
    const titles = [...table.querySelectorAll("thead th")].map((cell) => cell.textContent.trim());
    for (const row of table.querySelectorAll("tbody tr"))
      [...row.children].forEach((cell, i) => {
        if (titles[i]) cell.dataset.title = titles[i];
        cell.classList.toggle("empty", !cell.textContent.trim());
        cell.classList.toggle("prose", cell.textContent.length > 60);
      });
  }
});
